// Notification bodies after interface §6.1, as the sandbox sends them. Other providers' receivers accept them too.

/** Unix seconds; `occurred_at` is the same time in ISO 8601. */
export const created = 1_767_268_800
export const occurred_at = '2026-01-01T12:00:00.000Z'

let sent = 0

/** Indented, so that a test notices when the body is parsed and printed again. */
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
