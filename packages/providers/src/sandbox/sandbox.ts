// The sandbox provider: no network and no payers. Its ids follow from the requests.
import { DomainError } from '@paylog/domain/errors'
import type { ProductCatalog } from '../productCatalog.ts'
import { type IntentRef, type Provider, ProviderError, type ProviderIntent } from '../provider.ts'
import { readTimedSignature, verifyTimedSignature } from '../timedSignature.ts'
import {
  canceled,
  capturedApproval,
  capturedAuthorized,
  clientSecretOf,
  newIntent,
  paymentIdIn,
  refundableOf,
  refundIn,
  type SandboxIntent,
  snapshotOf,
  withRefund,
} from './intent.ts'
import { createLocalMemory, type SandboxMemory } from './memory.ts'
import { derivedId, isTestMethod, requireAccepted, sandboxMethods } from './methods.ts'
import { readNotification, remember, signatureHeader } from './notifications.ts'
import type { SandboxPage } from './page.ts'

/**
 * @param options `webhookSecrets`: for the notifications' signatures; several during a rotation. `memory`: shared by all
 *   processes. Without it each process knows only what it did itself, so that the sandbox cannot be queried. `page`: where payers
 *   decide in a browser, on the same memory.
 */
export function createSandbox(options: {
  readonly webhookSecrets: readonly string[]
  readonly memory?: SandboxMemory | undefined
  readonly page?: SandboxPage | undefined
}): Provider {
  const { memory = createLocalMemory(), page } = options
  const isShared = options.memory !== undefined
  const shownIntent = (provider_intent_id: string, payment_id: string) => ({
    provider_intent_id,
    client_secret: clientSecretOf(provider_intent_id, payment_id),
    redirect_url: page?.urlOf(provider_intent_id) ?? null,
  })
  return {
    id: 'sandbox',
    newPaymentId: null,

    async createIntent({ payment_id, idempotency_key, provider_method_id: token, amount_cents, currency }) {
      requireAccepted(token)
      // Derived from the key, so that a repeated call returns the same intent. The key keeps its UUID form, see
      // `derivedId`.
      const provider_intent_id = `sandbox_pi_${idempotency_key}`
      const intent = { provider_intent_id, payment_id, token, amount_cents, currency }
      await memory.add(newIntent(intent))
      return shownIntent(provider_intent_id, payment_id)
    },

    checkAmount: () => undefined,
    isTestMethod,
    findPaymentId: async ({ provider_intent_id, provider_payment_id }) =>
      paymentIdIn(provider_intent_id ?? provider_payment_id),
    ...intentCalls(memory, isShared, shownIntent),
    pagesExpire: false,
    ...(page && { hostedPage: page }),

    async createSetupIntent({ idempotency_key }) {
      const provider_setup_intent_id = `sandbox_seti_${idempotency_key}`
      return { provider_setup_intent_id, client_secret: `${provider_setup_intent_id}_secret` }
    },
    methods: sandboxMethods,
    readTime: null,
    catalog: sandboxCatalog,

    checkNotificationHeaders: (notification) => void readTimedSignature(signatureHeader, notification),
    async verifyNotification(signed) {
      verifyTimedSignature(signatureHeader, options.webhookSecrets, signed)
      const notification = readable(signed.body)
      if (notification) await remember(memory, notification)
    },
    readNotification,
    completeNotification: null,
    close: () => memory.close(),
  }
}

/** The product catalogue, which stores nothing. */
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

/** @returns undefined for a body that `readNotification` rejects */
function readable(body: Buffer) {
  try {
    return readNotification(body)
  } catch (error) {
    if (error instanceof DomainError) return undefined
    throw error
  }
}

type IntentCalls = Pick<
  Provider,
  'retrieveIntent' | 'findIntents' | 'cancelIntent' | 'captureIntent' | 'captureAuthorized' | 'refund'
>

function intentCalls(
  memory: SandboxMemory,
  isShared: boolean,
  shownIntent: (intentId: string, paymentId: string) => ProviderIntent,
): IntentCalls {
  const snapshot = (intent: SandboxIntent) => snapshotOf(intent, new Date())
  const queries: Pick<IntentCalls, 'retrieveIntent' | 'findIntents' | 'captureIntent'> = {
    async retrieveIntent({ provider_intent_id }) {
      const intent = await memory.read(provider_intent_id)
      return intent ? snapshot(intent) : null
    },
    async findIntents(paymentId) {
      const found = await memory.ofPayment(paymentId)
      return found.map(({ provider_intent_id, payment_id, status }) => {
        return { ...shownIntent(provider_intent_id, payment_id), status }
      })
    },
    async captureIntent(ref) {
      const isManual = ref.capture_method === 'manual'
      return snapshot(await change(ref, 0, (intent) => capturedApproval(intent, isManual)))
    },
  }

  /** Changes an intent. A process without a shared memory has to believe that an intent exists. */
  async function change(ref: IntentRef, amount_cents: number, by: (intent: SandboxIntent) => SandboxIntent) {
    const { provider_intent_id, payment_id, currency } = ref
    const assumed = newIntent({ provider_intent_id, payment_id, currency, amount_cents, token: null })
    if (!isShared) await memory.add(assumed)
    const changed = await memory.update(provider_intent_id, by)
    if (changed) return changed
    throw new ProviderError('rejected', 'intent_not_found', 'The sandbox does not know this payment')
  }

  return {
    ...(isShared ? queries : { retrieveIntent: null, findIntents: null, captureIntent: null }),
    async cancelIntent({ provider_intent_id }) {
      const intent = await memory.update(provider_intent_id, canceled)
      return intent ? snapshot(intent) : null
    },
    async captureAuthorized(ref) {
      const { amount_cents } = ref
      const trusted = (intent: SandboxIntent) =>
        isShared || intent.status === 'succeeded' ? intent : { ...intent, capturable_cents: amount_cents }
      const capture = (intent: SandboxIntent) => capturedAuthorized(trusted(intent), amount_cents)
      return snapshot(await change(ref, amount_cents, capture))
    },
    async refund(request) {
      const { amount_cents, refund_id } = request
      const intent = await change(request, amount_cents, (known) =>
        withRefund(known, request, isShared ? refundableOf(known) : amount_cents),
      )
      return refundIn(intent, refund_id, new Date())
    },
  }
}
