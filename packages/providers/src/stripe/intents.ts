// Stripe's payment intents and setup intents. https://docs.stripe.com/api/payment_intents

import type { PaymentStatus } from '@paylog/domain/payments/payment'
import Stripe from 'stripe'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code } from '../fields.ts'
import {
  type CreateIntent,
  type CreateSetupIntent,
  type FoundIntent,
  type IntentSnapshot,
  ProviderError,
  type ProviderIds,
  type ProviderIntent,
  type ProviderSetupIntent,
} from '../provider.ts'
import { checkResponse, nullIfRejected, respondedAt, unreadableResponse } from '../responses.ts'
import { isMissing, type StripeApi } from './api.ts'
import { idIn, Maybe, paymentIdIn, Reference, toStripeAmount } from './fields.ts'
import { evidenceOf, PaymentIntent, statusOf } from './paymentIntent.ts'

const paymentIntent = Compile(PaymentIntent)
const searchResult = Compile(
  Type.Object({
    data: Type.Array(PaymentIntent),
    has_more: Type.Boolean(),
    next_page: Maybe(Code),
  }),
)

/** Stripe's limit, https://docs.stripe.com/api/payment_intents/create */
const maxDescriptionLength = 1_000
/** A payment has one intent, or a few when responses were lost. */
const maxPages = 5
const pageSize = 100

/** @throws ProviderError */
export function createIntent(api: StripeApi, request: CreateIntent): Promise<ProviderIntent> {
  const { payment_id, provider_method_id, provider_customer_id } = request
  const description = [...(request.description ?? '')].slice(0, maxDescriptionLength).join('')
  const amount = toStripeAmount(request.amount_cents, request.currency)
  if (amount === null)
    throw new ProviderError(
      'currency',
      'amount_not_writable',
      'The provider does not accept this amount in this currency',
    )
  const currency = request.currency.toLowerCase()
  return api.call(async (stripe, timeLeft) => {
    const response = await stripe.paymentIntents.create(
      {
        amount,
        currency,
        automatic_payment_methods: { enabled: true },
        metadata: { payment_id },
        // Stripe reads an empty string as a request to clear the field.
        ...(description ? { description } : {}),
        ...(provider_method_id ? { payment_method: provider_method_id } : {}),
        // An attached method can be used only with its customer.
        ...(provider_method_id && provider_customer_id ? { customer: provider_customer_id } : {}),
      },
      { ...timeLeft(), idempotencyKey: request.idempotency_key },
    )
    const intent = checkResponse(paymentIntent, response)
    // An intent with other data must not be paid in place of this one.
    const named = intent.metadata?.payment_id ?? payment_id
    if (intent.amount !== amount || intent.currency !== currency || named !== payment_id)
      throw unreadableResponse('another_intent')
    return { provider_intent_id: intent.id, client_secret: intent.client_secret ?? null }
  })
}

/** @throws ProviderError */
export function retrieveIntent(api: StripeApi, provider_intent_id: string): Promise<IntentSnapshot | null> {
  return api.call(async (stripe, timeLeft) => {
    const response = await stripe.paymentIntents.retrieve(provider_intent_id, {}, timeLeft()).catch(nullIfMissing)
    if (response === null) return null
    const intent = checkResponse(paymentIntent, response)
    if (intent.id !== provider_intent_id) throw unreadableResponse('another_intent')
    const source = { provider_event_id: null, provider_time: respondedAt(response.lastResponse.headers) }
    const evidence = evidenceOf(intent, knownStatusOf(intent), source)
    if (evidence === null) throw unreadableResponse('another_amount')
    return { evidence, further_charges: [], awaits_capture: false }
  })
}

/**
 * Searches for the intents of a payment. Stripe's search lags by about a minute.
 * @throws ProviderError
 */
export function findIntents(api: StripeApi, paymentId: string): Promise<readonly FoundIntent[]> {
  return api.call(async (stripe, timeLeft) => {
    const found: PaymentIntent[] = []
    let page: string | undefined
    for (let pages = 0; pages < maxPages; pages++) {
      const query = `metadata['payment_id']:'${paymentId}'`
      const response = await stripe.paymentIntents.search(
        { query, limit: pageSize, ...(page === undefined ? {} : { page }) },
        timeLeft(),
      )
      const { data, has_more, next_page } = checkResponse(searchResult, response)
      found.push(...data.filter(({ metadata }) => metadata?.payment_id === paymentId))
      if (!has_more || !next_page) break
      page = next_page
    }
    return found.map((intent) => ({
      provider_intent_id: intent.id,
      client_secret: intent.client_secret ?? null,
      status: knownStatusOf(intent),
    }))
  })
}

const intentOrCharge = Compile(
  Type.Object({ id: Code, metadata: Maybe(Type.Object({})), payment_intent: Maybe(Reference) }),
)

/** Ids of another form are not sent: the object of a generic event may have any id. */
const intentId = /^pi_\w+$/
const chargeId = /^(ch|py)_\w+$/

/**
 * The payment that the intent's metadata name. Without an intent id, the charge names the payment or its intent.
 * @throws ProviderError
 */
export function findPaymentId(api: StripeApi, ids: ProviderIds): Promise<string | null> {
  return api
    .call(async (stripe, timeLeft) => {
      const read = async (id: string, response: Promise<unknown>) => {
        const found = checkResponse(intentOrCharge, await response)
        if (found.id !== id) throw unreadableResponse('another_object')
        return found
      }
      let intent = ids.provider_intent_id
      const charge = ids.provider_payment_id
      if (intent === null && charge !== null && chargeId.test(charge)) {
        const found = await read(charge, stripe.charges.retrieve(charge, {}, timeLeft()))
        const named = paymentIdIn(found)
        if (named !== null) return named
        intent = idIn(found.payment_intent)
      }
      if (intent === null || !intentId.test(intent)) return null
      return paymentIdIn(await read(intent, stripe.paymentIntents.retrieve(intent, {}, timeLeft())))
    })
    .catch(nullIfRejected)
}

/** @throws ProviderError when the intent could be canceled but may not have been */
export function cancelIntent(api: StripeApi, provider_intent_id: string): Promise<void> {
  return api.call(async (stripe, timeLeft) => {
    try {
      const options = { ...timeLeft(), idempotencyKey: `${provider_intent_id}-cancel` }
      const { status } = checkResponse(
        paymentIntent,
        await stripe.paymentIntents.cancel(provider_intent_id, {}, options),
      )
      if (status !== 'canceled') throw unreadableResponse('not_canceled')
    } catch (error) {
      if (!isMissing(error) && !isNotCancelable(error)) throw error
    }
  })
}

function isNotCancelable(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeInvalidRequestError && error.code === 'payment_intent_unexpected_state'
}

function nullIfMissing(error: unknown): null {
  if (isMissing(error)) return null
  throw error
}

function knownStatusOf(intent: PaymentIntent): PaymentStatus {
  const status = statusOf(intent)
  if (status === undefined) throw unreadableResponse('another_status')
  return status
}

const setupIntent = Compile(Type.Object({ id: Code, client_secret: Type.String({ minLength: 1, maxLength: 500 }) }))

/** Lets a client save a card or a wallet. https://docs.stripe.com/api/setup_intents @throws ProviderError */
export function createSetupIntent(
  api: StripeApi,
  { idempotency_key, provider_customer_id }: CreateSetupIntent,
): Promise<ProviderSetupIntent> {
  return api.call(async (stripe, timeLeft) => {
    const create = async (customer: string | null, idempotencyKey: string) => {
      const response = await stripe.setupIntents.create(
        {
          usage: 'off_session',
          // A mobile payment sheet cannot show methods that redirect out of the app.
          automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
          ...(customer === null ? {} : { customer }),
        },
        { ...timeLeft(), idempotencyKey },
      )
      const { id, client_secret } = checkResponse(setupIntent, response)
      return { provider_setup_intent_id: id, client_secret }
    }
    if (provider_customer_id === null) return create(null, idempotency_key)
    try {
      // The key includes the customer, which may be another one, or none, in the next call.
      return await create(provider_customer_id, `${idempotency_key}-${provider_customer_id}`)
    } catch (error) {
      if (!isMissing(error, 'customer')) throw error
      return create(null, idempotency_key)
    }
  })
}
