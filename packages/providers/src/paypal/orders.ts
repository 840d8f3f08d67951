// What an order of PayPal's says about the payment behind it.
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
  type ProviderIntent,
} from '../provider.ts'
import { respondedAt, unreadableResponse } from '../responses.ts'
import { isDecline, type PaypalClient, rejectionError } from './client.ts'
import { amountOf, Capture, captureEvidence, Money, statusIn, statusOfCapture, toMoney } from './fields.ts'

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
  // Without a capture that came or may come, all there is to see is that the payer has done their part.
  COMPLETED: 'processing',
  VOIDED: 'canceled',
}

/**
 * Reads an order as PayPal shows it, with all that was captured of it.
 * @throws ProviderError `unknown` when it cannot be read
 */
function snapshotOf(answer: HttpResponse): IntentSnapshot {
  const read = readResponse(order, answer)
  const captures = read.purchase_units.flatMap(({ payments }) => payments?.captures ?? [])
  const taken = captures.filter((capture) => statusOfCapture(capture) === 'succeeded')
  const [capture, ...further] = taken
  const onItsWay = captures.find(({ status }) => status === 'PENDING')
  const status = statusIn(orderStatuses, read)
  const lastFailed = read.status === 'COMPLETED' ? captures.at(-1) : undefined
  const decisive = capture ?? onItsWay ?? lastFailed
  const provider_time = respondedAt(answer.headers)
  if (!decisive) return fromOrder(read, status, provider_time)
  return {
    evidence: { ...captureEvidence(decisive), provider_time, provider_event_id: null, provider_intent_id: read.id },
    further_charges: further.map(({ id }) => id),
    awaits_capture: false,
  }
}

/** The payer's approval came to nothing: PayPal would not take the money. */
function declinedSnapshot(orderId: string, failure_code: string, answer: HttpResponse): IntentSnapshot {
  return {
    evidence: {
      status: 'failed',
      provider_time: respondedAt(answer.headers),
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

// Orders v2: an order is the intent, the payer approves it at PayPal, and its capture takes the money.

/** Reckoned in bytes, because PayPal counts characters beyond ASCII as several. */
const maxDescriptionBytes = 127

const createdOrder = Compile(
  Type.Object({
    id: Code,
    links: Type.Optional(Type.Array(Type.Object({ rel: Type.String(), href: Type.String() }))),
  }),
)

/** The capture was refused because the order is not where we think; the order itself says where it is. */
const orderMovedOnIssues: ReadonlySet<string> = new Set([
  'ORDER_ALREADY_CAPTURED',
  'ORDER_NOT_APPROVED',
  'PAYER_ACTION_REQUIRED',
])

/**
 * Creates the order that a payer approves, also when a saved method was chosen: an order that names one
 * (`payment_source.*.vault_id`) can be captured by the call that creates it, and this call must take no money. Its invoice
 * number is the payment's id, which PayPal lets be paid only once.
 * @returns with the link to PayPal's page as the client's secret
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
    (answer) => readResponse(createdOrder, answer),
  )
  if (created.rejection) throw rejectionError(created.rejection)
  const { id, links = [] } = created.value
  const link = links.find(({ rel }) => rel === 'payer-action') ?? links.find(({ rel }) => rel === 'approve')
  return { provider_intent_id: id, client_secret: link && isWebAddress(link.href) ? link.href : null }
}

/**
 * The order as it is now. `null` when PayPal knows no such order: one that was not approved is gone after some hours. That
 * is no proof that it was never paid, because an order of another account is unknown in just the same way; so nothing is
 * concluded from it.
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
 * Takes the money of an approved order. An order can be captured only once, whatever the key. Asking where an order is
 * that cannot be captured is part of the one limit of time.
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
  throw new ProviderError('unknown', rejection.issue.toLowerCase(), 'PayPal does not know the order any more')
}

const orderPath = (orderId: string) => `/v2/checkout/orders/${encodeURIComponent(orderId)}`

function shortened(text: string): string {
  // A streaming decoder keeps the half of a character at the end to itself.
  return new TextDecoder().decode(Buffer.from(text).subarray(0, maxDescriptionBytes), { stream: true })
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol)
}
