// The command that initiates a payment, from a request.
import type { Actor } from '@paylog/domain/actor'
import { paymentMethodSummary } from '@paylog/domain/payment-methods/paymentMethod'
import { enabledProvider, type Workflow } from '../context.ts'
import { rememberGuestToken } from '../guest-tokens/guestTokens.ts'
import type { RepeatableRequest } from '../request/idempotentRequests.ts'
import { chosenProviderId } from '../request/requestBody.ts'
import { type PaymentOptions, requireCaptureMethod } from './checkout.ts'
import { chosenMethod } from './chosenMethod.ts'
import { type IntentBody, initiatePaymentCommand } from './intentBody.ts'

type NewPayment = RepeatableRequest & {
  readonly payment_id: string
  readonly actor: Actor
  readonly body: IntentBody
  readonly checkBody: () => void
}

/**
 * The command of a request, and the saved method that it names.
 * @throws DomainError for a request that is not valid: the errors of `initiatePaymentCommand`, `enabledProvider`,
 *   `requireCaptureMethod`, `checkAmount` and `chosenMethod`
 */
export async function draftPayment(
  workflow: Workflow,
  options: PaymentOptions,
  { payment_id, request_fingerprint, metadata, actor, body, checkBody }: NewPayment,
) {
  const occurred_at = workflow.now().toISOString()
  const facts = { payment_id, request_fingerprint, occurred_at }
  const draft = { ...facts, ...initiatePaymentCommand(actor, body, occurred_at, options) }
  const provider_id = chosenProviderId(body, workflow.providers)
  checkBody()
  const provider = enabledProvider(workflow, provider_id)
  requireCaptureMethod(draft.capture_method, provider, workflow.providers)
  provider.checkAmount(draft.total_cents, draft.currency)
  const { payment_method_id } = body
  const method = await chosenMethod(workflow, { actor, provider, payment_method_id })
  if (actor.kind === 'guest') await rememberGuestToken(workflow.store, actor, occurred_at, metadata)
  // Recorded, so that every create call sends the same method.
  const provider_method = method && {
    provider_method_id: method.provider_method_id,
    provider_customer_id: method.provider_customer_id,
  }
  // A provider that finds payments by the end of their id makes the ids, where no key does.
  const newId = request_fingerprint === null ? provider.newPaymentId?.() : undefined
  const saved = method ? { payment_method_id: method.payment_method_id, provider_method } : { provider_method }
  const command = { ...draft, payment_id: newId ?? payment_id, provider_id, ...saved }
  return { command, summary: method && paymentMethodSummary(method) }
}
