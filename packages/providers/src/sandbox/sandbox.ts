// The sandbox provider: deterministic, stateless and without a network. Its ids are hashes of the request's fields.
import { createHash } from 'node:crypto'
import type { MethodDetails } from '@paylog/domain/payment-methods/events'
import { notificationJson, paymentIdFrom } from '../fields.ts'
import { type GenericEventOptions, readGenericEvent } from '../genericEvent.ts'
import type { ProductCatalog } from '../productCatalog.ts'
import { type Provider, ProviderError, type ProviderMethods, type ProviderNotification } from '../provider.ts'
import { readSandboxSignature, verifySandboxSignature } from './signature.ts'

/** @param options `webhookSecrets`: for the notifications' signatures; several during a rotation */
export function createSandbox(options: { readonly webhookSecrets: readonly string[] }): Provider {
  return {
    id: 'sandbox',
    newPaymentId: null,

    async createIntent({ payment_id, idempotency_key, provider_method_id }) {
      if (provider_method_id === declinedCard) throw declined()
      // Derived from the key, so that a repeated call returns the same intent. The key keeps its UUID form, see
      // `derivedId`.
      const provider_intent_id = `sandbox_pi_${idempotency_key}`
      return { provider_intent_id, client_secret: `${provider_intent_id}_secret_${payment_id.slice(-12)}` }
    },

    checkAmount: () => undefined,
    isTestMethod: (paymentMethodId) => cards.has(paymentMethodId) || paymentMethodId === declinedCard,
    // The sandbox stores nothing that could be retrieved.
    retrieveIntent: null,
    findIntents: null,
    findPaymentId: async ({ provider_intent_id, provider_payment_id }) =>
      paymentIdIn(provider_intent_id ?? provider_payment_id),
    cancelIntent: null,
    captureIntent: null,

    async createSetupIntent({ idempotency_key }) {
      const provider_setup_intent_id = `sandbox_seti_${idempotency_key}`
      return { provider_setup_intent_id, client_secret: `${provider_setup_intent_id}_secret` }
    },
    methods: sandboxMethods,
    catalog: sandboxCatalog,

    checkNotificationHeaders({ headers, now }) {
      readSandboxSignature(headers['sandbox-signature'], now)
    },
    async verifyNotification({ body, headers, now }) {
      verifySandboxSignature(options.webhookSecrets, headers['sandbox-signature'], body, now)
    },
    readNotification,
    completeNotification: null,
    close: async () => undefined,
  }
}

const sandboxCatalog: ProductCatalog = {
  keepsPrice: () => true,
  checkProduct: () => undefined,

  async putProduct({ product: { product_id, price }, price: priceAction, known }) {
    const { amount_cents, currency, recurring } = price
    const terms = recurring && [recurring.interval, recurring.trial_days]
    const priceId = `sandbox_price_${derivedId(['price', product_id, amount_cents, currency, terms])}`
    return {
      provider_product_id: `sandbox_prod_${product_id}`,
      provider_price_id: priceAction === 'put' ? priceId : (known?.provider_price_id ?? null),
      kept_fields: [],
    }
  },
}

const declinedCard = 'pm_card_declined'

const card = (card_brand: string, last_four: string): MethodDetails => ({
  payment_type: 'card',
  wallet_type: null,
  card_brand,
  last_four,
  expiry_month: '12',
  expiry_year: '2034',
})

/** The test tokens. They are shared, and each owner gets a different method from the same token. */
const cards: ReadonlyMap<string, MethodDetails> = new Map([
  ['pm_card_visa', card('visa', '4242')],
  ['pm_card_mastercard', card('mastercard', '4444')],
  ['pm_card_amex', card('amex', '8431')],
])

const sandboxMethods: ProviderMethods = {
  createCustomer: async ({ user_id }) => `sandbox_cus_${derivedId(['customer', user_id])}`,

  async attachMethod({ token, provider_customer_id }) {
    if (provider_customer_id === null) throw new Error('A method at the sandbox must be attached to a customer')
    const provider_method_id = `sandbox_pm_${derivedId(['attached', provider_customer_id, token])}`
    return { ...cardOf(token), provider_method_id, provider_customer_id }
  },

  async readMethod({ token, owner }) {
    return { ...cardOf(token), provider_method_id: `sandbox_pm_${derivedId(['read', owner, token])}` }
  },

  // The sandbox stores nothing that could be retrieved.
  retrieveMethod: null,
  detachMethod: async () => undefined,
}

/** @throws ProviderError `declined`, `rejected` */
function cardOf(token: string): MethodDetails {
  if (token === declinedCard) throw declined()
  const found = cards.get(token)
  if (found) return found
  throw new ProviderError('rejected', 'unknown_token', 'The token is not a test card of the sandbox')
}

function declined(): ProviderError {
  return new ProviderError('declined', 'card_declined', 'The card was declined')
}

const genericEventOptions: GenericEventOptions = {
  chargeOf: (intentId) => `sandbox_ch_${intentId.replace('sandbox_pi_', '')}`,
  failure: { failure_code: 'card_declined', failure_message: 'The sandbox declined the payment' },
}

/** @throws DomainError `invalid_request` */
function readNotification(body: Buffer): ProviderNotification {
  const notification = readGenericEvent(notificationJson(body).json, genericEventOptions)
  const { object_id, referenced_payment_id } = notification
  return { ...notification, referenced_payment_id: paymentIdIn(object_id) ?? referenced_payment_id }
}

/** The ids of intents and charges contain the payment's. */
const paymentIdIn = (id: string | null) => paymentIdFrom(/^sandbox_(?:pi|ch)_(.{36})(?:-\d+)?$/.exec(id ?? '')?.[1])

/** UUID-shaped: our check for card numbers could mistake a plain hash for one when a client sends the id back. */
function derivedId(parts: readonly unknown[]): string {
  const digits = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')
}
