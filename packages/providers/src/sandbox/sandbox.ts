// The sandbox provider: deterministic, without a network and without a state of its own.
import { type GenericEventOptions, readGenericEvent } from '../genericEvent.ts'
import { notificationJson } from '../notificationJson.ts'
import type { Provider, ProviderNotification } from '../provider.ts'
import { sandboxCatalog } from './catalog.ts'
import { cards, declined, declinedCard, sandboxMethods } from './methods.ts'
import { readSandboxSignature, verifySandboxSignature } from './signature.ts'

/** Its notifications have the provider-neutral shape, and no other. */
const genericEventOptions: GenericEventOptions = {
  chargeOf: (intentId) => `sandbox_ch_${intentId.replace('sandbox_pi_', '')}`,
  failure: { failure_code: 'card_declined', failure_message: 'The sandbox declined the payment' },
}

/** @throws DomainError `invalid_request` when it is no notification */
function readNotification(body: Buffer): ProviderNotification {
  return readGenericEvent(notificationJson(body).json, genericEventOptions)
}

/** @param secrets of the notifications' signature; several during a rotation */
export function createSandbox(options: { readonly webhookSecrets: readonly string[] }): Provider {
  return {
    id: 'sandbox',

    async createIntent({ payment_id, idempotency_key, provider_method_id }) {
      if (provider_method_id === declinedCard) throw declined()
      // Derived from the key alone, so that a repeated call finds the same intent. The key is a UUID and stays one: a
      // run of hexadecimal digits could look like a card number to us when a client sends it back.
      const provider_intent_id = `sandbox_pi_${idempotency_key}`
      return { provider_intent_id, client_secret: `${provider_intent_id}_secret_${payment_id.slice(-12)}` }
    },

    checkAmount: () => undefined,
    isTestMethod: (paymentMethodId) => cards.has(paymentMethodId) || paymentMethodId === declinedCard,
    // It keeps nothing that could be asked for.
    retrieveIntent: null,
    findIntents: null,
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
