// PayPal orders v2: an order is the intent, the payer approves it at PayPal, and its capture takes the money.
import type { PaymentStatus } from '@paylog/domain/payments/payment'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code } from '../fields.ts'
import { type HttpResponse, readResponse } from '../http.ts'
import {
  type CaptureIntent,
  type CreateIntent,
  type IntentSnapshot,
  ProviderError,
  type ProviderIds,
  type ProviderIntent,
} from '../provider.ts'
import { respondedAt, unreadableResponse } from '../responses.ts'
import { isDecline, type PaypalClient, rejectionError } from './client.ts'
import {
  amountOf,
  Capture,
  captureEvidence,
  Money,
  orderIn,
  paymentIdIn,
  statusIn,
  statusOfCapture,
  toMoney,
} from './fields.ts'

const order = Compile(
  Type.Object({
    id: Code,
    status: Type.String(),
    purchase_units: Type.Array(
      Type.Object({
        amount: Type.Optional(Money),
        payments: Type.Optional(Type.Object({ captures: Type.Optional(Type.Array(Capture)) })),
      }),
      { minItems: 1 },
    ),
  }),
)
type Order = ReturnType<typeof order.Parse>

const orderStatuses: Readonly<Record<string, PaymentStatus>> = {
  CREATED: 'pending',
  SAVED: 'pending',
  PAYER_ACTION_REQUIRED: 'pending',
  APPROVED: 'processing',
  // Without a completed or pending capture, all we know is that the payer has approved.
  COMPLETED: 'processing',
  VOIDED: 'canceled',
}

/** In bytes, because PayPal counts a non-ASCII character as several. */
const maxDescriptionBytes = 127

const createdOrder = Compile(
  Type.Object({
    id: Code,
    links: Type.Optional(Type.Array(Type.Object({ rel: Type.String(), href: Type.String() }))),
  }),
)

/** The capture was rejected because the order is in another state, which the order itself shows. */
const orderMovedOnIssues: ReadonlySet<string> = new Set([
  'ORDER_ALREADY_CAPTURED',
  'ORDER_NOT_APPROVED',
  'PAYER_ACTION_REQUIRED',
])

/**
 * Creates an order for the payer to approve. A saved method is not sent: an order with `payment_source.*.vault_id` can
 * be captured by the creating call, and this call must take no money. The invoice number is the payment id, because
 * PayPal allows only one payment per invoice number.
 * @returns the order, with the link to PayPal's approval page as `client_secret`
 * @throws ProviderError
 */
export async function createOrder(client: PaypalClient, request: CreateIntent): Promise<ProviderIntent> {
  const { payment_id, idempotency_key, amount_cents, currency } = request
  const description = shortened(request.description ?? '')
  const body = JSON.stringify({
    intent: 'CAPTURE',
    purchase_units: [
      {
        custom_id: payment_id,
        invoice_id: payment_id,
        amount: toMoney(amount_cents, currency),
        ...(description === '' ? {} : { description }),
      },
    ],
  })
  const created = await client.call(
    { method: 'POST', path: '/v2/checkout/orders', key: idempotency_key, body },
    (response) => readResponse(createdOrder, response),
  )
  if (created.rejection) throw rejectionError(created.rejection)
  const { id, links = [] } = created.value
  const link = links.find(({ rel }) => rel === 'payer-action') ?? links.find(({ rel }) => rel === 'approve')
  return { provider_intent_id: id, client_secret: link && isWebAddress(link.href) ? link.href : null }
}

/**
 * The order's current state. `null` when PayPal does not know the order: unapproved orders expire after some hours.
 * That does not prove that it was never paid, because an order of another account is unknown in the same way.
 * @throws ProviderError
 */
export async function retrieveOrder(
  client: PaypalClient,
  orderId: string,
  timeoutMs = client.timeoutMs,
): Promise<IntentSnapshot | null> {
  const found = await client.call({ method: 'GET', path: orderPath(orderId) }, snapshotOf, timeoutMs)
  if (!found.rejection) return found.value
  if (found.rejection.status === 404) return null
  throw rejectionError(found.rejection)
}

/**
 * Captures an approved order. PayPal captures an order only once, with any key. If the capture is rejected because
 * of the order's state, the order is fetched within the same time limit.
 * @throws ProviderError
 */
export async function captureOrder(client: PaypalClient, capture: CaptureIntent): Promise<IntentSnapshot> {
  const giveUpAt = performance.now() + client.timeoutMs
  const { provider_intent_id, idempotency_key } = capture
  const path = `${orderPath(provider_intent_id)}/capture`
  const captured = await client.call({ method: 'POST', path, key: idempotency_key, body: '{}' }, snapshotOf)
  if (!captured.rejection) return captured.value
  const { rejection, response } = captured
  if (isDecline(rejection)) return declinedSnapshot(provider_intent_id, rejection.issue.toLowerCase(), response)
  if (!orderMovedOnIssues.has(rejection.issue)) throw rejectionError(rejection)
  const snapshot = await retrieveOrder(client, provider_intent_id, giveUpAt - performance.now())
  if (snapshot) return snapshot
  throw new ProviderError('unknown', rejection.issue.toLowerCase(), 'The order no longer exists at PayPal')
}

/**
 * Reads an order with its captures.
 * @throws ProviderError `unknown` when it is unreadable
 */
function snapshotOf(response: HttpResponse): IntentSnapshot {
  const read = readResponse(order, response)
  const captures = read.purchase_units.flatMap(({ payments }) => payments?.captures ?? [])
  const succeeded = captures.filter((capture) => statusOfCapture(capture) === 'succeeded')
  const [capture, ...further] = succeeded
  const pending = captures.find(({ status }) => status === 'PENDING')
  const status = statusIn(orderStatuses, read)
  const lastFailed = read.status === 'COMPLETED' ? captures.at(-1) : undefined
  const decisive = capture ?? pending ?? lastFailed
  const provider_time = respondedAt(response.headers)
  if (!decisive) return fromOrder(read, status, provider_time)
  return {
    evidence: { ...captureEvidence(decisive), provider_time, provider_event_id: null, provider_intent_id: read.id },
    further_charges: further.map(({ id }) => id),
    awaits_capture: false,
  }
}

/** The payer approved, but PayPal declined the capture. */
function declinedSnapshot(orderId: string, failure_code: string, response: HttpResponse): IntentSnapshot {
  return {
    evidence: {
      status: 'failed',
      provider_time: respondedAt(response.headers),
      provider_event_id: null,
      provider_intent_id: orderId,
      provider_payment_id: null,
      amount_cents: null,
      currency: null,
      failure_code,
      failure_message: 'PayPal declined the payment',
    },
    further_charges: [],
    awaits_capture: false,
  }
}

function fromOrder(read: Order, status: PaymentStatus, provider_time: string): IntentSnapshot {
  const amount = read.purchase_units[0]?.amount
  if (!amount) throw unreadableResponse('unreadable_answer')
  return {
    evidence: {
      status,
      provider_time,
      provider_event_id: null,
      provider_intent_id: read.id,
      provider_payment_id: null,
      ...amountOf(amount),
    },
    further_charges: [],
    awaits_capture: read.status === 'APPROVED',
  }
}

const orderPath = (orderId: string) => `/v2/checkout/orders/${encodeURIComponent(orderId)}`

function shortened(text: string): string {
  // A streaming decoder drops an incomplete character at the end.
  return new TextDecoder().decode(Buffer.from(text).subarray(0, maxDescriptionBytes), { stream: true })
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol)
}

const withId = Compile(Type.Object({ id: Code }))

/** Ids of another form are not sent: the object of a generic event may have any id. */
const idForm = /^[A-Za-z0-9-]{1,36}$/

/**
 * The payment that the order names. Without an order id, the capture names the payment or its order.
 * @throws ProviderError
 */
export async function findPaymentId(
  client: PaypalClient,
  { provider_intent_id, provider_payment_id }: ProviderIds,
): Promise<string | null> {
  const giveUpAt = performance.now() + client.timeoutMs

  /** `null` for an id that PayPal does not know. */
  async function read(path: string, id: string | null): Promise<unknown> {
    if (id === null || !idForm.test(id)) return null
    const found = await client.call(
      { method: 'GET', path: `${path}/${id}` },
      (response) => readResponse(withId, response),
      giveUpAt - performance.now(),
    )
    if (found.rejection) return null
    if (found.value.id !== id) throw unreadableResponse('another_object')
    return found.value
  }

  const capture = provider_intent_id === null ? await read('/v2/payments/captures', provider_payment_id) : null
  return paymentIdIn(capture) ?? paymentIdIn(await read('/v2/checkout/orders', provider_intent_id ?? orderIn(capture)))
}
