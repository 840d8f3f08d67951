// Who may do what, said a second time: written from the interface (section 5) and not from the code that it judges.
import type { Caller, OwnerName } from './people.ts'

/**
 * Of products there are no owners, so that those of this world count as the only administrator's. Log entries are of whom
 * the webhook was about, or of who tried the endpoints out.
 */
export type Kind = 'payment' | 'method' | 'address' | 'product' | 'log'

/** Whom a route is for. */
export type Access =
  /** Nobody is asked who he is. */
  | 'public'
  /** A signature is the credential. */
  | 'provider'
  /** Who presents nothing may come in as well. */
  | 'anyone'
  | 'known'
  /** Also guests whose token expired, as long as payment history knows it (rule 6). */
  | 'known or remembered'
  | 'session'
  | 'administrator'

export type Row = {
  readonly access: Access
  /** What the path names one of. */
  readonly item?: Kind
  /** What it lists. */
  readonly list?: Kind
  /** Administrators have what anybody has, and what nobody has. */
  readonly administratorsHaveAll?: true
  /** A body that is in order, for the routes that take one. */
  readonly body?: object
  /** A body without anything in it is an error. */
  readonly mayNotBeEmpty?: true
  /** The answer to whoever is let in, where there are neither items nor bodies. */
  readonly status?: number
}

const intent = { total_cents: 1200, currency: 'EUR', provider_id: 'sandbox' }
const address = { address_type: 'billing', line1: 'Example Street 1', city: 'Berlin', country: 'DE' }
const method = { payment_method_token: 'pm_card_amex', provider_id: 'sandbox' }
const product = { name: 'Example', product_type: 'digital', currency: 'EUR', total_cents: 1200 }
const sync = { product_ids: ['018f0000-0000-7000-8000-000000000000'], provider_id: 'sandbox' }
const tried = { event: 'payment.succeeded', test_data: { amount: 1200, currency: 'EUR' } }
const simulated = { event: 'payment_intent.succeeded', provider: 'stripe', payload: { id: 'pi_1', amount: 1200 } }
const entry = { access: 'session', item: 'log', administratorsHaveAll: true } as const
const receiver = { access: 'provider' } as const
const anyPayment = { access: 'administrator', item: 'payment', administratorsHaveAll: true } as const

/** Every route of the service. A route that the service has and this table has not is a failure, and the other way round. */
export const rows: Readonly<Record<string, Row>> = {
  'POST /payments/intents': { access: 'anyone', body: intent, mayNotBeEmpty: true },
  'GET /payments': { access: 'known', list: 'payment' },
  'GET /payments/{id}': { access: 'known', item: 'payment' },
  'GET /payment-methods': { access: 'known', list: 'method' },
  'GET /payment-methods/{id}': { access: 'known', item: 'method' },
  'POST /payment-methods': { access: 'known', body: method, mayNotBeEmpty: true },
  'PUT /payment-methods/{id}': {
    access: 'known or remembered',
    item: 'method',
    body: { alias: 'changed' },
    mayNotBeEmpty: true,
  },
  'DELETE /payment-methods/{id}': { access: 'known or remembered', item: 'method' },
  'POST /payment-methods/setup-intent': { access: 'session', body: { provider_id: 'sandbox' } },
  'GET /addresses': { access: 'known', list: 'address' },
  'GET /addresses/{id}': { access: 'known', item: 'address' },
  'POST /addresses': { access: 'known', body: address, mayNotBeEmpty: true },
  'PUT /addresses/{id}': {
    access: 'known or remembered',
    item: 'address',
    body: { city: 'Hamburg' },
    mayNotBeEmpty: true,
  },
  'DELETE /addresses/{id}': { access: 'known or remembered', item: 'address' },
  'GET /admin/products': { access: 'administrator', list: 'product' },
  'GET /admin/products/{id}': { access: 'administrator', item: 'product' },
  'POST /admin/products': { access: 'administrator', body: product, mayNotBeEmpty: true },
  'PUT /admin/products/{id}': {
    access: 'administrator',
    item: 'product',
    body: { name: 'Changed' },
    mayNotBeEmpty: true,
  },
  'POST /admin/sync/products': { access: 'administrator', body: sync, mayNotBeEmpty: true },
  'GET /admin/payments/{id}': anyPayment,
  'GET /admin/payments/{id}/history': anyPayment,
  'POST /webhooks/test': { access: 'session', body: tried, mayNotBeEmpty: true },
  'POST /webhooks/external/simulate': { access: 'session', body: simulated, mayNotBeEmpty: true },
  'GET /webhooks/logs': { access: 'session', list: 'log', administratorsHaveAll: true },
  'GET /webhooks/logs/{id}': entry,
  'POST /webhooks/stripe': receiver,
  'POST /webhooks/paypal': receiver,
  'POST /webhooks/authorize-net': receiver,
  'POST /webhooks/sandbox': receiver,
  'GET /health/live': { access: 'public', status: 200 },
  'GET /health/ready': { access: 'public', status: 200 },
  'GET /metrics': { access: 'public', status: 200 },
}

/** Routes that the document does not mention: itself and its page. */
export const undocumented: Readonly<Record<string, Row>> = {
  'GET /openapi.json': { access: 'public', status: 200 },
  'GET /docs': { access: 'public', status: 200 },
  'HEAD /payments/{id}': { access: 'known', item: 'payment' },
  'HEAD /payment-methods/{id}': { access: 'known', item: 'method' },
  'HEAD /addresses/{id}': { access: 'known', item: 'address' },
  'HEAD /admin/products/{id}': { access: 'administrator', item: 'product' },
  'HEAD /admin/payments/{id}': anyPayment,
  'HEAD /admin/payments/{id}/history': anyPayment,
  'HEAD /webhooks/logs/{id}': entry,
}

/** The refusal at the door, before anything is said about the request; undefined for who is let in. */
export function authErrorStatus({ access }: Row, { standing }: Caller): 401 | 403 | undefined {
  if (access === 'public' || access === 'provider') return undefined
  if (standing === 'unknown') return 401
  if (standing === 'anonymous') return access === 'anyone' ? undefined : 401
  if (standing === 'remembered') return access === 'known or remembered' ? undefined : 401
  if (standing === 'guest' && access === 'session') return 403
  if (standing !== 'administrator' && access === 'administrator') return 403
  return undefined
}

/** An expired guest token changes what its guest has, and is shown the id alone of it. */
export function seesIdAlone({ standing }: Caller, method: string): boolean {
  return standing === 'remembered' && (method === 'PUT' || method === 'DELETE')
}

/** Nobody has what was removed, what never was, and what cannot be. */
export type Thing = { readonly name: string; readonly id: string; readonly owner: OwnerName | null }

/** The answer to a request about one thing that is otherwise in order. */
export function expectedStatus(row: Row, caller: Caller, thing: Thing): 200 | 401 | 403 | 404 {
  return authErrorStatus(row, caller) ?? (has(row, caller, thing) ? 200 : 404)
}

/** Whether one of those who are let in has it. */
export function has({ administratorsHaveAll }: Row, { owner, standing }: Caller, thing: Thing): boolean {
  if (thing.owner === null) return false
  return thing.owner === owner || (administratorsHaveAll === true && standing === 'administrator')
}
