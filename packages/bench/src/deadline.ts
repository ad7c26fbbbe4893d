/** No wait is for ever. */

/** Milliseconds after which a program that says nothing is given up. */
const patience = 120_000

/** The result of some work, or a failure that names it if it takes too long. */
export const within = async <A>(what: string, work: Promise<A>, milliseconds = patience): Promise<A> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took more than ${milliseconds / 1000} s`)), milliseconds)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
