// The sandbox provider: deterministic, without a network and without a state of its own.
import { DomainError } from '@paylog/domain/errors'
import type { PaymentStatus } from '@paylog/domain/payments/status'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { type Provider, ProviderError, type ProviderNotification, type Statement } from './provider.ts'
import { verifySandboxSignature } from './sandboxSignature.ts'

const declinedCard = 'pm_card_declined'
const testCards: ReadonlySet<string> = new Set(['pm_card_visa', 'pm_card_mastercard', 'pm_card_amex', declinedCard])

/** Printable ASCII: ids and codes end in stream names, tables and webhooks, where control characters do harm. */
const Code = Type.String({ pattern: '^[\\x20-\\x7e]+$', maxLength: 200 })
const Amount = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const OptionalCode = Type.Optional(Type.Union([Code, Type.Null()]))

/** A notification of the sandbox has the shape of interface section 6.1. */
const SandboxEvent = Type.Object({
  id: Code,
  type: Code,
  created: Type.Integer({ minimum: 0, maximum: 253_402_300_799 }),
  data: Type.Object({
    object: Type.Object({
      id: Code,
      amount: Type.Optional(Type.Union([Amount, Type.Null()])),
      currency: OptionalCode,
      status: OptionalCode,
      customer: OptionalCode,
      customer_email: OptionalCode,
      metadata: Type.Optional(Type.Object({ payment_id: Type.Optional(Type.String({ format: 'uuid' })) })),
    }),
  }),
})
type SandboxEvent = Static<typeof SandboxEvent>

const sandboxEvent = Compile(SandboxEvent)

const statusOf: Readonly<Record<string, PaymentStatus>> = {
  'payment_intent.requires_action': 'pending',
  'payment_intent.processing': 'processing',
  'payment_intent.succeeded': 'succeeded',
  'payment_intent.failed': 'failed',
  'payment_intent.canceled': 'canceled',
}

/** @param secrets of the notifications' signature; several during a rotation */
export function createSandbox(options: { readonly webhookSecrets: readonly string[] }): Provider {
  return {
    id: 'sandbox',

    async createIntent({ payment_id, idempotency_key, payment_method_id }) {
      if (payment_method_id === declinedCard)
        throw new ProviderError('declined', 'card_declined', 'The card was declined')
      // Derived from the key alone, so that a repeated call finds the same intent. The key is a UUID and stays one: a
      // run of hexadecimal digits could look like a card number to us when a client sends it back.
      const provider_intent_id = `sandbox_pi_${idempotency_key}`
      return { provider_intent_id, client_secret: `${provider_intent_id}_secret_${payment_id.slice(-12)}` }
    },

    checkAmount: () => undefined,
    isTestMethod: (paymentMethodId) => testCards.has(paymentMethodId),
    // It keeps nothing that could be asked for.
    retrieveIntent: null,
    findIntents: null,
    cancelIntent: null,
    captureIntent: null,

    async createSetupIntent({ idempotency_key }) {
      const provider_setup_intent_id = `sandbox_seti_${idempotency_key}`
      return { provider_setup_intent_id, client_secret: `${provider_setup_intent_id}_secret` }
    },
    methods: null,

    async verifyNotification({ body, headers, now }) {
      verifySandboxSignature(options.webhookSecrets, headers['sandbox-signature'], body, now)
    },
    readNotification: (body) => notification(parse(body)),
    completeNotification: null,
    close: async () => undefined,
  }
}

function parse(body: Buffer): SandboxEvent {
  let parsed: unknown
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body))
  } catch (cause) {
    throw new DomainError('invalid_request', 'The body is not JSON', undefined, { cause })
  }
  if (!sandboxEvent.Check(parsed)) {
    const [first] = sandboxEvent.Errors(parsed)
    throw new DomainError('invalid_request', `The event is not valid: ${first?.instancePath} ${first?.message}`)
  }
  return parsed
}

function notification(event: SandboxEvent): ProviderNotification {
  const { object } = event.data
  const occurred_at = new Date(event.created * 1000).toISOString()
  const isPayment = event.type.startsWith('payment_intent.')
  // The interface's shape has both; a success over no amount could not be told from one over another amount.
  if (isPayment && (typeof object.amount !== 'number' || typeof object.currency !== 'string'))
    throw new DomainError('invalid_request', 'The event is not valid: amount and currency are required')
  return {
    provider_event_id: event.id,
    provider_type: event.type,
    generic_type: event.type,
    occurred_at,
    object_id: object.id,
    amount_cents: object.amount ?? null,
    currency: object.currency?.toUpperCase() ?? null,
    status: object.status ?? null,
    customer_id: object.customer ?? null,
    customer_email: object.customer_email ?? null,
    claimed_payment_id: object.metadata?.payment_id ?? null,
    statement: isPayment ? statement(event, occurred_at) : null,
    subscription: event.type.startsWith('subscription.') ? subscription(object.id) : null,
  }
}

/** The interface's shape says no more about a subscription than which one it is. */
function subscription(subscription_id: string) {
  return { subscription_id, current_period_end: null, status_changed: false, is_first_invoice: false }
}

function statement(event: SandboxEvent, provider_time: string): Statement | null {
  const status = statusOf[event.type]
  if (!status) return null
  const { object } = event.data
  return {
    about: 'status',
    status,
    provider_time,
    provider_event_id: event.id,
    provider_intent_id: object.id,
    provider_payment_id: status === 'succeeded' ? `sandbox_ch_${object.id.replace('sandbox_pi_', '')}` : null,
    amount_cents: object.amount ?? null,
    currency: object.currency ?? null,
    ...(status === 'failed'
      ? { failure_code: 'card_declined', failure_message: 'The sandbox declined the payment' }
      : {}),
  }
}
