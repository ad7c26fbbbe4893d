/**
 * Projections: plain functions from one JSON object to another that leave out, or rewrite, what a revision does not know.
 * All of them give back the same object when there is nothing to do.
 */
import { isJsonObject, type JsonObject } from "../JsonRpc.ts"

export type Project = (self: JsonObject) => JsonObject

export const same: Project = (self) => self

/** The object itself, as one: every object of the model is a JSON object, which interfaces cannot say. */
export const json = (self: object): JsonObject => isJsonObject(self) ? self : {}

/** Leaves members out. */
export const omit = (...keys: ReadonlyArray<string>): Project => {
  const gone = new Set(keys)
  return (self) => {
    for (const key of keys) {
      if (Object.hasOwn(self, key)) return Object.fromEntries(Object.entries(self).filter(([name]) => !gone.has(name)))
    }
    return self
  }
}

/** Applies to a member that is an object. */
export const member = (key: string, project: Project): Project =>
  project === same ? same : (self) => {
    const value = self[key]
    if (!isJsonObject(value)) return self
    const next = project(value)
    return next === value ? self : { ...self, [key]: next }
  }

/** Applies to every object in an array. */
export const each = (values: ReadonlyArray<unknown>, project: Project): ReadonlyArray<unknown> => {
  let changed: Array<unknown> | undefined
  for (let index = 0; index < values.length; index++) {
    const value = values[index]
    const next = isJsonObject(value) ? project(value) : value
    if (changed !== undefined) changed.push(next)
    else if (next !== value) changed = [...values.slice(0, index), next]
  }
  return changed ?? values
}

/** Applies to every object in a member that is an array. */
export const members = (key: string, project: Project): Project =>
  project === same ? same : (self) => {
    const values = self[key]
    if (!Array.isArray(values)) return self
    const next = each(values, project)
    return next === values ? self : { ...self, [key]: next }
  }

/** Applies to every object that is a value of a member that is an object. */
export const values = (key: string, project: Project): Project =>
  member(key, (record) => {
    let changed = false
    const entries = Object.entries(record).map(([name, value]): [string, unknown] => {
      if (!isJsonObject(value)) return [name, value]
      const next = project(value)
      changed ||= next !== value
      return [name, next]
    })
    return changed ? Object.fromEntries(entries) : record
  })

/** One after the other. */
export const compose = (...projects: ReadonlyArray<Project>): Project => {
  const steps = projects.filter((project) => project !== same)
  const [only] = steps
  if (only === undefined) return same
  return steps.length === 1 ? only : (self) => {
    let value = self
    for (const step of steps) value = step(value)
    return value
  }
}

/** Puts a value where a member is absent. */
export const fill = (key: string, value: unknown): Project => (self) =>
  self[key] === undefined ? { ...self, [key]: value } : self

/** Gives a member another name. */
export const rename = (from: string, to: string): Project => (self) =>
  Object.hasOwn(self, from)
    ? Object.fromEntries(Object.entries(self).map(([name, value]) => [name === from ? to : name, value]))
    : self
