// Stripe's customers and saved payment methods, and the setup intents that save them.
// https://docs.stripe.com/api/payment_methods https://docs.stripe.com/api/setup_intents

import type { MethodDetails } from '@paylog/domain/payment-methods/events'
import type Stripe from 'stripe'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code, maybe } from '../fields.ts'
import { codeAt, emailForProvider } from '../lenient.ts'
import { type CreateSetupIntent, ProviderError, type ProviderSetupIntent } from '../provider.ts'
import type { ApiResponse } from '../providerApi.ts'
import { customerMissing, type ProviderMethods, type ReadMethod } from '../providerMethods.ts'
import { unreadableResponse } from '../responses.ts'
import { isMissing, nullIfMissing, rejected, type StripeApi } from './api.ts'
import { idIn, Reference } from './objects.ts'

const PaymentMethod = Type.Object({
  id: Code,
  type: Code,
  customer: maybe(Reference),
  card: maybe(
    Type.Object({
      brand: maybe(Code),
      exp_month: maybe(Type.Integer({ minimum: 1, maximum: 12 })),
      exp_year: maybe(Type.Integer({ minimum: 1000, maximum: 9999 })),
      wallet: maybe(Type.Object({ type: Code })),
    }),
  ),
})
export type PaymentMethod = Static<typeof PaymentMethod>
const paymentMethod = Compile(PaymentMethod)

const customer = Compile(Type.Object({ id: Code }))
const deletedCustomer = Compile(Type.Object({ id: Code, deleted: Type.Literal(true) }))

export function createMethods(api: StripeApi): ProviderMethods {
  return {
    async createCustomer({ idempotency_key: idempotencyKey, name, ...owner }) {
      const email = emailForProvider(owner.email)
      const params = { ...(email ? { email } : {}), ...(name ? { name } : {}) }
      const { body } = await api.request(customer, (stripe) => stripe.customers.create(params, { idempotencyKey }))
      return body.id
    },

    async attachMethod({ idempotency_key, token, provider_customer_id }) {
      if (provider_customer_id === null) throw new Error('A method at Stripe must be attached to a customer')
      const id = await methodIdOf(api, token)
      const attached = await attachMethod(api, { id, idempotency_key, provider_customer_id })
      return { ...readMethodOf(attached), provider_customer_id }
    },

    async readMethod({ token }) {
      const id = await methodIdOf(api, token)
      const { body: method } = await api.request(paymentMethod, (stripe) => stripe.paymentMethods.retrieve(id))
      // A caller who only has the id must learn nothing about another customer's card, not even that it is a card.
      if (method.customer) throw rejected('attached')
      return readMethodOf(method)
    },

    async retrieveMethod({ provider_method_id: id, provider_customer_id }) {
      const method = await findMethodOf(api, { id, provider_customer_id })
      return method && detailsOf(method)
    },

    async detachMethod({ provider_method_id: id }) {
      try {
        // Without a key of ours: Stripe would replay an error for a day.
        await api.request(paymentMethod, (stripe) => stripe.paymentMethods.detach(id))
      } catch (error) {
        if (!isRejected(error)) throw error
        // Stripe has no code for "not attached".
        const method = await findMethod(api, id)
        if (method?.customer) throw error
      }
    },

    async deleteCustomer(id) {
      await api.request(deletedCustomer, (stripe) => stripe.customers.del(id)).catch(nullIfMissing)
    },
  }
}

const setupIntent = Compile(Type.Object({ id: Code, client_secret: Type.String({ minLength: 1, maxLength: 500 }) }))

/** Lets a client save a card or a wallet. @throws ProviderError */
export async function createSetupIntent(
  api: StripeApi,
  { idempotency_key, provider_customer_id }: CreateSetupIntent,
): Promise<ProviderSetupIntent> {
  const create = async (customer: string | null, idempotencyKey: string) => {
    const params: Stripe.SetupIntentCreateParams = {
      usage: 'off_session',
      // A mobile payment sheet cannot show methods that redirect out of the app.
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
      ...(customer === null ? {} : { customer }),
    }
    const { body } = await api.request(setupIntent, (stripe) => stripe.setupIntents.create(params, { idempotencyKey }))
    return { provider_setup_intent_id: body.id, client_secret: body.client_secret }
  }
  if (provider_customer_id === null) return create(null, idempotency_key)
  try {
    // The key includes the customer, which may be another one, or none, in the next call.
    return await create(provider_customer_id, `${idempotency_key}-${provider_customer_id}`)
  } catch (error) {
    if (!isMissing(error, 'customer')) throw error
    return create(null, idempotency_key)
  }
}

const isRejected = (error: unknown) => error instanceof ProviderError && error.kind === 'rejected'

/**
 * Converts a token of the older card forms to a method. The token is the key, because it can be used only once: the
 * same token always returns the same method.
 */
async function methodIdOf(api: StripeApi, token: string): Promise<string> {
  if (!token.startsWith('tok_')) return token
  const { body } = await api.request(paymentMethod, (stripe) =>
    stripe.paymentMethods.create({ type: 'card', card: { token } }, { idempotencyKey: `${token}-method` }),
  )
  return body.id
}

/** A method and its expected customer. */
export type MethodLookup = { readonly id: string; readonly provider_customer_id: string }

/** @returns the method, or `null` if it does not belong to the customer */
async function findMethodOf(api: StripeApi, lookup: MethodLookup): Promise<PaymentMethod | null> {
  const method = await findMethod(api, lookup.id)
  return idIn(method?.customer) === lookup.provider_customer_id ? method : null
}

/** @returns the method of any customer, or `null` if there is none */
async function findMethod(api: StripeApi, id: string): Promise<PaymentMethod | null> {
  const found = await api.request(paymentMethod, (stripe) => stripe.paymentMethods.retrieve(id)).catch(nullIfMissing)
  return found?.body ?? null
}

function readMethodOf(method: PaymentMethod): ReadMethod {
  return { ...detailsOf(method), provider_method_id: method.id }
}

function detailsOf(method: PaymentMethod): MethodDetails {
  const { type, card } = method
  return {
    payment_type: type,
    wallet_type: card?.wallet?.type ?? null,
    card_brand: card?.brand ?? null,
    // Bank debits have `last4` too.
    last_four: codeAt(method, type, 'last4'),
    expiry_month: card?.exp_month ? String(card.exp_month).padStart(2, '0') : null,
    expiry_year: card?.exp_year ? String(card.exp_year) : null,
  }
}

type Attachment = MethodLookup & { readonly idempotency_key: string }

/** Succeeds when the method is already attached to the customer. @throws ProviderError */
async function attachMethod(api: StripeApi, attachment: Attachment): Promise<PaymentMethod> {
  const { id, idempotency_key, provider_customer_id: customer } = attachment
  // The key includes the customer: the user gets a new customer if Stripe lost the first.
  const idempotencyKey = `${idempotency_key}-${customer}`
  let attached: ApiResponse<PaymentMethod>
  try {
    attached = await api.request(paymentMethod, (stripe) =>
      stripe.paymentMethods.attach(id, { customer }, { idempotencyKey }),
    )
  } catch (cause) {
    if (isMissing(cause, 'customer'))
      throw new ProviderError('rejected', customerMissing, 'The provider does not know the customer', { cause })
    if (!isRejected(cause)) throw cause
    // A setup intent of the same customer has attached the method already, and Stripe rejects a second attachment.
    return (await findMethodOf(api, attachment)) ?? Promise.reject(cause)
  }
  const { body: method, headers } = attached
  if (idIn(method.customer) !== customer) throw unreadableResponse('another_customer')
  if (headers['idempotent-replayed'] !== 'true') return method
  // A replayed response may be outdated: the method may have been detached since.
  const present = await findMethodOf(api, { ...attachment, id: method.id })
  if (present) return present
  throw new ProviderError('rejected', 'detached', 'The provider no longer accepts this token')
}
