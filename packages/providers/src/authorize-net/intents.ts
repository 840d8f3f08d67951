// Authorize.Net's intents: tokens for the hosted payment form. A token charges nothing, so a second one does no harm.
import { endOfPaymentId } from '../findableId.ts'
import {
  type CreateIntent,
  type IntentRef,
  type IntentSnapshot,
  ProviderError,
  type ProviderIds,
  type ProviderIntent,
} from '../provider.ts'
import { nullIfRejected } from '../responses.ts'
import { type Deadline, hostedPaymentPage, isNotFound, startDeadline } from './api.ts'
import { decimalOf, evidenceOf, paymentIdOf, plainText } from './fields.ts'
import type { Gateway } from './gateway.ts'
import { type Attempt, findAttempts, isTransactionId, readTransaction, statusOf } from './transactions.ts'

/**
 * How long the gateway rejects a repetition of the same card, amount and invoice, in seconds: its maximum. A payment
 * can have two tokens, and a payer may submit both.
 */
const duplicateWindowSeconds = 28_800

const formSettings = {
  hostedPaymentButtonOptions: { text: 'Pay' },
  // The invoice number is internal and means nothing to a payer.
  hostedPaymentOrderOptions: { show: false },
}

/**
 * Creates a token that is valid for 15 minutes. A repeated call returns another token for the same invoice. The form lets
 * the payer choose among the saved methods; it cannot be limited to one of them.
 * https://developer.authorize.net/api/reference/features/accept-hosted.html
 * @throws ProviderError
 */
export async function createIntent(gateway: Gateway, request: CreateIntent): Promise<ProviderIntent> {
  const { provider_customer_id } = request
  const deadline = startDeadline(gateway.timeoutMs)
  if (provider_customer_id === null) return requestHostedPage(gateway, deadline, request)
  try {
    return await requestHostedPage(gateway, deadline, request)
  } catch (error) {
    // Without the customer the payer can still enter a card.
    if (isNotFound(error)) return requestHostedPage(gateway, deadline, { ...request, provider_customer_id: null })
    throw error
  }
}

async function requestHostedPage({ api }: Gateway, deadline: Deadline, request: CreateIntent): Promise<ProviderIntent> {
  const { payment_id, description, provider_customer_id: customerProfileId } = request
  // The gateway's limit is 20 characters.
  const invoiceNumber = endOfPaymentId(payment_id)
  const { body } = await api.idempotent({
    method: 'getHostedPaymentPage',
    members: {
      refId: invoiceNumber,
      transactionRequest: {
        transactionType: 'authCaptureTransaction',
        amount: decimalOf(request.amount_cents),
        currencyCode: request.currency,
        ...(customerProfileId === null ? {} : { profile: { customerProfileId } }),
        order: { invoiceNumber, ...(description === null ? {} : { description: plainText(description) }) },
        transactionSettings: {
          setting: [{ settingName: 'duplicateWindow', settingValue: String(duplicateWindowSeconds) }],
        },
      },
      hostedPaymentSettings: {
        setting: Object.entries(formSettings).map(([settingName, value]) => ({
          settingName,
          settingValue: JSON.stringify(value),
        })),
      },
    },
    response: hostedPaymentPage,
    deadline,
  })
  return { provider_intent_id: invoiceNumber, client_secret: body.token }
}

/** How long a payment can be paid: a token is valid for 15 minutes, and a client may request new ones for a while. */
const payableMs = 24 * 60 * 60 * 1000

/**
 * Finds a payment's state from all transactions with its invoice number. Tokens cannot be retrieved, so no transaction
 * means an unpaid payment. A recorded transaction is read by its id, so that the search cannot miss it; others may
 * have been paid too.
 * @returns `null` only when the gateway does not know the recorded transaction
 * @throws ProviderError
 */
export async function retrieveIntent(gateway: Gateway, intent: IntentRef): Promise<IntentSnapshot | null> {
  const { api, lists, timeoutMs } = gateway
  const deadline = startDeadline(gateway.searchMs())
  const { provider_payment_id, provider_intent_id: invoiceNumber } = intent
  const response =
    provider_payment_id === null ? null : await readTransaction(api, provider_payment_id, startDeadline(timeoutMs))
  const known = response && { ...response, status: statusOf(response.body) }
  // Before the search, which may use up the time.
  const currency = known && (await gateway.currency(deadline))
  const first = Date.parse(intent.created_at)
  const submitted = { first, last: first + payableMs }
  const isWide = provider_payment_id !== null
  const asOf = intent.as_of === undefined ? Date.now() : Date.parse(intent.as_of)
  const search = { api, lists, timeoutMs, invoiceNumber, submitted, isWide, deadline, asOf }
  try {
    const { body: attempts, responded_at } = await findAttempts(search, known)
    const [best, ...others] = attempts
    if (best) return snapshotOf(intent, [best, ...others], known ? currency : await gateway.currency(deadline))
    return provider_payment_id === null ? unpaidSnapshot(intent, responded_at) : null
  } catch (error) {
    if (!(error instanceof ProviderError) || !known || !isConclusive(known)) throw error
    return snapshotOf(intent, [known], currency)
  }
}

/**
 * An invoice number leads to its payment without a call. A transaction alone is read for its invoice number.
 * @throws ProviderError
 */
export async function findPaymentId(
  { api, timeoutMs }: Gateway,
  { provider_intent_id, provider_payment_id }: ProviderIds,
): Promise<string | null> {
  if (provider_intent_id !== null) return paymentIdOf(provider_intent_id)
  if (provider_payment_id === null || !isTransactionId(provider_payment_id)) return null
  const found = await readTransaction(api, provider_payment_id, startDeadline(timeoutMs)).catch(nullIfRejected)
  return paymentIdOf(found?.body.order?.invoiceNumber)
}

/** A failed or canceled attempt may have been followed by another one. */
function isConclusive({ status }: Attempt): boolean {
  return status === 'succeeded' || status === 'processing'
}

/** @param attempts best first */
function snapshotOf(
  { provider_intent_id }: IntentRef,
  [best, ...others]: readonly [Attempt, ...Attempt[]],
  currency: string | null,
): IntentSnapshot {
  return {
    evidence: {
      ...evidenceOf(best.body, best.status, { provider_time: best.responded_at, provider_event_id: null, currency }),
      provider_intent_id,
    },
    further_charges: others.filter(({ status }) => status === 'succeeded').map(({ body }) => body.transId),
    awaits_capture: false,
  }
}

function unpaidSnapshot({ provider_intent_id }: IntentRef, provider_time: string): IntentSnapshot {
  return {
    evidence: {
      status: 'pending',
      provider_time,
      provider_event_id: null,
      provider_intent_id,
      provider_payment_id: null,
      amount_cents: null,
      currency: null,
    },
    further_charges: [],
    awaits_capture: false,
  }
}
