// The access rules, written from section 5 of the interface and independent of the code under test.
import { type Caller, type OwnerName, type Right, rights } from './people.ts'

/**
 * Products have no owners, so those of the fixture count as the one's who has all rights. A log entry belongs to the owner
 * of its payment, or to the caller of its test.
 */
export type Kind = 'payment' | 'method' | 'address' | 'product' | 'log'

export type Access =
  /** No credential is read. */
  | 'public'
  /** The signature is the credential. */
  | 'provider'
  /** Anonymous callers too. */
  | 'anyone'
  | 'known'
  /** Also guests with an expired token that payment history contains (rule 6). */
  | 'known or remembered'
  | 'session'
  /** Who has one of these rights. */
  | readonly Right[]

export type Row = {
  readonly access: Access
  /** The resource in the path. */
  readonly item?: Kind
  /** The listed resource. */
  readonly list?: Kind
  /** Who has this right can access the resources of every owner, and those without one. */
  readonly everybodys?: Right
  /** The status for a guest who may read a session's payment, because its guest_data names them; 404 without it. */
  readonly readers?: 200 | 403
  /** With access it changes something. */
  readonly changes?: true
  /** Takes If-Match. */
  readonly takesIfMatch?: true
  /** A valid body, for routes that take one. */
  readonly body?: object
  /** An empty body is an error. */
  readonly mayNotBeEmpty?: true
  /** The rest of the path names a part that the item does not have. */
  readonly isPartMissing?: true
  /** The status for a caller with access, for routes without items and bodies. */
  readonly status?: number
}

const intent = { total_cents: 1200, currency: 'EUR', provider_id: 'sandbox' }
const address = { address_type: 'billing', line1: 'Example Street 1', city: 'Berlin', country: 'DE' }
const method = { payment_method_token: 'pm_card_amex', provider_id: 'sandbox' }
const product = { name: 'Example', product_type: 'digital', currency: 'EUR', total_cents: 1200 }
const sync = { product_ids: ['018f0000-0000-7000-8000-000000000000'], provider_id: 'sandbox' }
const testBody = { event: 'payment.succeeded', test_data: { amount: 1200, currency: 'EUR' } }
const simulated = { event: 'payment_intent.succeeded', provider: 'stripe', payload: { id: 'pi_1', amount: 1200 } }
const [read, refund, operate] = [['read'], ['refund'], ['operate']] as const
const entry = { access: 'session', item: 'log', everybodys: 'read' } as const
const receiver = { access: 'provider' } as const
const anyPayment = { access: read, item: 'payment', everybodys: 'read' } as const
const anyProduct = { access: read, item: 'product', everybodys: 'read' } as const
const ownPayment = { access: 'known', item: 'payment', readers: 200 } as const
const changedPayment = { item: 'payment', everybodys: 'refund', changes: true } as const
const changed = { changes: true, takesIfMatch: true } as const

/** Every route of the service. A test compares this table with the OpenAPI document. */
export const rows: Readonly<Record<string, Row>> = {
  'POST /payments/intents': { access: 'anyone', body: intent, mayNotBeEmpty: true },
  'GET /payments': { access: 'known', list: 'payment' },
  'GET /payments/{id}': ownPayment,
  'POST /payments/{id}/cancel': {
    ...changedPayment,
    access: 'known',
    readers: 403,
    takesIfMatch: true,
    body: { reason: 'changed' },
  },
  'POST /payments/{id}/refresh': { ...changedPayment, everybodys: 'read', access: 'known', readers: 403 },
  'POST /payments/{id}/capture': {
    ...changedPayment,
    access: refund,
    takesIfMatch: true,
    body: { amount_cents: 1 },
  },
  'GET /payments/{id}/refunds': { ...ownPayment, everybodys: 'read' },
  'GET /payments/{id}/refunds/{refund_id}': { ...ownPayment, everybodys: 'read', isPartMissing: true },
  'POST /payments/{id}/refunds': { ...changedPayment, access: refund, body: { amount_cents: 1 } },
  'GET /payment-methods': { access: 'known', list: 'method' },
  'GET /payment-methods/{id}': { access: 'known', item: 'method' },
  'POST /payment-methods': { access: 'known', body: method, mayNotBeEmpty: true },
  'PUT /payment-methods/{id}': {
    access: 'known or remembered',
    item: 'method',
    ...changed,
    body: { alias: 'changed' },
    mayNotBeEmpty: true,
  },
  'DELETE /payment-methods/{id}': { access: 'known or remembered', item: 'method', ...changed },
  'POST /payment-methods/setup-intent': { access: 'session', body: { provider_id: 'sandbox' } },
  'GET /addresses': { access: 'known', list: 'address' },
  'GET /addresses/{id}': { access: 'known', item: 'address' },
  'POST /addresses': { access: 'known', body: address, mayNotBeEmpty: true },
  'PUT /addresses/{id}': {
    access: 'known or remembered',
    item: 'address',
    ...changed,
    body: { city: 'Hamburg' },
    mayNotBeEmpty: true,
  },
  'DELETE /addresses/{id}': { access: 'known or remembered', item: 'address', ...changed },
  'GET /admin/products': { access: read, list: 'product' },
  'GET /admin/products/{id}': anyProduct,
  'POST /admin/products': { access: operate, body: product, mayNotBeEmpty: true },
  'PUT /admin/products/{id}': {
    access: operate,
    everybodys: 'operate',
    item: 'product',
    ...changed,
    body: { name: 'Changed' },
    mayNotBeEmpty: true,
  },
  'POST /admin/sync/products': { access: operate, body: sync, mayNotBeEmpty: true },
  'GET /admin/payments': { access: read, status: 200 },
  'GET /admin/stats': { access: read, status: 400 },
  'GET /admin/refunds': { access: read, status: 200 },
  'GET /admin/disputes': { access: read, status: 200 },
  // Of no month, and of no days.
  'GET /admin/reports/{month}': { access: read, status: 400 },
  'GET /admin/reports': { access: read, status: 400 },
  'GET /admin/audit-trail': { access: read, status: 200 },
  'GET /admin/payments/{id}': anyPayment,
  'GET /admin/payments/{id}/history': anyPayment,
  'GET /admin/payments/{id}/events': anyPayment,
  // Of a payment that does not exist.
  'GET /admin/payments/{id}/proof': { access: ['export'], status: 404 },
  // Without an owner.
  'GET /admin/payment-methods': { access: read, status: 400 },
  'GET /admin/addresses': { access: read, status: 400 },
  'GET /admin/webhook-endpoints': { access: read, status: 200 },
  // Of endpoints and deliveries that do not exist.
  'POST /admin/webhook-endpoints/{endpoint}/enable': { access: operate, status: 404 },
  'POST /admin/webhook-endpoints/{endpoint}/redeliver': { access: operate, status: 404 },
  'POST /admin/webhook-endpoints/{endpoint}/backfill': { access: operate, status: 404 },
  'POST /admin/webhook-endpoints/{endpoint}/test': { access: operate, status: 404 },
  // Without a period.
  'GET /admin/webhook-endpoints/{endpoint}/statistics': { access: read, status: 400 },
  'GET /admin/webhook-deliveries': { access: read, status: 200 },
  'GET /admin/webhook-deliveries/{id}': { access: read, status: 404 },
  'POST /admin/webhook-deliveries/{id}/redeliver': { access: operate, status: 404 },
  'GET /admin/events': { access: ['export'], status: 200 },
  'GET /admin/events/checkpoint': { access: ['export'], status: 400 },
  'GET /admin/privacy/erasures': { access: ['privacy'], status: 200 },
  'POST /admin/privacy/erasures': {
    access: ['privacy'],
    body: { guest_email: 'nobody@example.com' },
    mayNotBeEmpty: true,
  },
  'GET /admin/me': { access: rights, status: 200 },
  'GET /admin/attention': { access: read, status: 200 },
  'GET /admin/providers': { access: read, status: 200 },
  // Of a provider that does not exist.
  'POST /admin/providers/{id}/check': { access: operate, status: 404 },
  'GET /admin/system': { access: read, status: 200 },
  'GET /admin/projections': { access: read, status: 200 },
  // Of a projection and of jobs that do not exist.
  'POST /admin/projections/{name}/rebuild': { access: operate, status: 404 },
  'POST /admin/projections/{name}/verify': { access: operate, status: 404 },
  'GET /admin/jobs': { access: read, status: 200 },
  'GET /admin/jobs/{id}': { access: read, status: 404 },
  'POST /admin/jobs/{id}/cancel': { access: ['operate', 'privacy'], status: 404 },
  'POST /webhooks/test': { access: 'session', body: testBody, mayNotBeEmpty: true },
  'POST /webhooks/external/simulate': { access: 'session', body: simulated, mayNotBeEmpty: true },
  'GET /webhooks/logs': { access: 'session', list: 'log', everybodys: 'read' },
  'GET /webhooks/logs/{id}': entry,
  'POST /webhooks/stripe': receiver,
  'POST /webhooks/paypal': receiver,
  'POST /webhooks/authorize-net': receiver,
  'POST /webhooks/sandbox': receiver,
  'GET /health/live': { access: 'public', status: 200 },
  'GET /health/ready': { access: 'public', status: 200 },
  'GET /metrics': { access: 'public', status: 200 },
}

/** Routes outside the OpenAPI document. */
export const undocumented: Readonly<Record<string, Row>> = {
  'GET /openapi.json': { access: 'public', status: 200 },
  'GET /docs': { access: 'public', status: 200 },
  // The provider is not enabled.
  'GET /pages/authorize-net': { access: 'public', status: 404 },
  // The sandbox has no page here, and there is no start page.
  'GET /pages/sandbox/{intent}/{key}': { access: 'public', status: 404 },
  'POST /pages/sandbox/{intent}/{key}': { access: 'public', status: 404 },
  'GET /': { access: 'public', status: 404 },
  'POST /pages/first-payment': { access: 'public', status: 404 },
  'GET /pages/first-payment/{id}': { access: 'public', status: 404 },
  'HEAD /payments/{id}': ownPayment,
  'HEAD /payment-methods/{id}': { access: 'known', item: 'method' },
  'HEAD /addresses/{id}': { access: 'known', item: 'address' },
  'HEAD /admin/products/{id}': anyProduct,
  'HEAD /admin/payments/{id}': anyPayment,
  'HEAD /admin/payments/{id}/history': anyPayment,
  'HEAD /admin/payments/{id}/events': anyPayment,
  'HEAD /webhooks/logs/{id}': entry,
}

const isRights = (access: Access): access is readonly Right[] => typeof access !== 'string'

/** As the document names it: in words, and only for routes without owners. */
export const rightOf = ({ access }: Row): string | undefined => (isRights(access) ? access.join(' or ') : undefined)

/** The authentication error, which comes before the request is validated. Undefined with access. */
export function authErrorStatus({ access }: Row, { standing, rights }: Caller): 401 | 403 | undefined {
  if (access === 'public' || access === 'provider') return undefined
  if (standing === 'unknown') return 401
  if (standing === 'anonymous') return access === 'anyone' ? undefined : 401
  if (standing === 'remembered') return access === 'known or remembered' ? undefined : 401
  if (standing === 'guest' && access === 'session') return 403
  if (isRights(access) && !access.some((right) => rights.includes(right))) return 403
  return undefined
}

/** An expired guest token can change resources, and is shown only the id. */
export function seesIdAlone({ standing }: Caller, method: string): boolean {
  return standing === 'remembered' && (method === 'PUT' || method === 'DELETE')
}

/** `owner` is null for a resource that was removed, never existed, or cannot exist. */
export type Resource = {
  readonly name: string
  readonly id: string
  readonly owner: OwnerName | null
  /** The guest whom the guest_data of a session's payment names. */
  readonly reader?: OwnerName
}

export const missingId = '018f0000-0000-7000-8000-000000000000'

/** The path to a resource, and to a part that it does not have. */
export const pathTo = (template: string, { id }: Pick<Resource, 'id'>) =>
  template.replace('{id}', id).replace('{refund_id}', missingId)

/** The status of an otherwise valid request for one resource. */
export function expectedStatus(row: Row, caller: Caller, resource: Resource): 200 | 401 | 403 | 404 {
  const error = authErrorStatus(row, caller)
  if (error !== undefined) return error
  if (ownsOrMayAccess(row, caller, resource)) return row.isPartMissing ? 404 : 200
  // Who has other rights learns which one is missing, but not whether the resource exists.
  const isMissingRight = row.everybodys !== undefined && !caller.rights.includes(row.everybodys)
  if (isMissingRight && caller.rights.length > 0) return 403
  return isReader(caller, resource) && !row.isPartMissing ? (row.readers ?? 404) : 404
}

/** Whether a guest reads the payment of a session. */
export function isReader({ owner, standing }: Caller, { reader }: Resource): boolean {
  return standing === 'guest' && reader !== undefined && reader === owner
}

/** Whether a caller with access owns the resource, or has the right to everybody's. */
export function ownsOrMayAccess({ everybodys }: Row, { owner, rights }: Caller, resource: Resource): boolean {
  if (resource.owner === null) return false
  return resource.owner === owner || (everybodys !== undefined && rights.includes(everybodys))
}
