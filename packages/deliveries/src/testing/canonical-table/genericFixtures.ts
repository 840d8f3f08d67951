// Bodies of the shape of interface §6.1, which the sandbox sends and every other provider's receiver takes as well.

/** Unix seconds, and the same in ISO 8601. */
export const created = 1_767_268_800
export const occurred_at = '2026-01-01T12:00:00.000Z'

let sent = 0

/** Numbers come as they are written, so that a body is no other when it is printed anew. */
export function body(provider: string, type: string, object: object): string {
  const event = { id: `evt_generic_${++sent}`, type, provider, data: { object }, created }
  return JSON.stringify(event, null, 1)
}

export const intent = (status: string) => ({
  id: 'intent_F1',
  amount: 500,
  currency: 'eur',
  status,
  customer: 'cus_F1',
  customer_email: 'bo@example.com',
})
export const subscription = (status: string) => ({ ...intent(status), id: 'sub_F1' })
export const invoice = (status: string) => ({ ...intent(status), id: 'in_F1' })
export const customer = () => ({ id: 'cus_F1', customer_email: 'bo@example.com' })
export const method = () => ({ id: 'pm_F1', customer: 'cus_F1' })
