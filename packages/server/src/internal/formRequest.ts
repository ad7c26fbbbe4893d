/** The request that shows a form: one value for each form and message, as what is known of a request is kept with it. */
import type { FormSchema } from "@mcpfx/schema/FormSchema"
import type { InputRequest } from "@mcpfx/schema/InputRequired"

type FormRequest = Extract<InputRequest, { readonly method: "elicitation/create" }>

/** What each form was last shown with: mostly that is one message. */
const shown = new WeakMap<FormSchema, { readonly message: string; readonly request: FormRequest }>()

export const formRequest = (message: string, form: FormSchema): FormRequest => {
  const last = shown.get(form)
  if (last?.message === message) return last.request
  const request: FormRequest = {
    method: "elicitation/create",
    params: { mode: "form", message, requestedSchema: form }
  }
  shown.set(form, { message, request })
  return request
}
