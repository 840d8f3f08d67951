// What the routes share that change a payment: parameters, amounts, and the headers of their errors.
import { DomainError, type ErrorCode } from '@paylog/domain/errors'
import { CurrencyCode, maxAmountCents } from '@paylog/domain/money'
import { paymentFold } from '@paylog/domain/payments/fold'
import { requireWithinLimit } from '@paylog/domain/payments/refunds'
import { paymentStream } from '@paylog/event-store/streamName'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { Workflow } from '../context.ts'
import { responseHeaders, setWriteHeaders, startedErrorHeaders } from '../request/responses.ts'

export const PaymentParams = Type.Object({ id: Type.String({ description: 'The id of the payment' }) })

/** An optional amount in minor units of the payment's currency. */
export const PositiveAmount = (description: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxAmountCents,
      description: `In minor units of the currency. ${description}`,
    }),
  )

/** The currency that the caller means; see `requireCurrency`. */
export const MeantCurrency = Type.Optional(
  Type.With(CurrencyCode, { description: "In any case. Another one than the payment's is an error" }),
)

/**
 * Nothing is recorded before this check. The currency of a payment never changes.
 * @param currency undefined for a caller who does not name it
 * @throws DomainError `currency_mismatch` for another one than that of the payment, if there is such a payment
 */
export async function requireCurrency(
  { store }: Workflow,
  payment_id: string,
  currency: string | undefined,
): Promise<void> {
  if (currency === undefined) return
  const { state } = await store.load(paymentStream(payment_id), paymentFold)
  if (state.status === 'none' || state.currency === currency.toUpperCase()) return
  throw new DomainError('currency_mismatch', `The payment is in ${state.currency}`, { currency: state.currency })
}

/**
 * For who has a limit: nothing is recorded of what they may not refund.
 * @throws DomainError as of `requireWithinLimit`, if there is such a payment
 */
export async function requireRefundLimit(
  { store }: Workflow,
  payment_id: string,
  refund: Parameters<typeof requireWithinLimit>[0],
): Promise<void> {
  if (refund.refund_limit_cents === null) return
  const { state } = await store.load(paymentStream(payment_id), paymentFold)
  if (state.status !== 'none') requireWithinLimit(refund, state)
}

/** A payment in the audit trail. */
export const paymentTarget = (id: string) => ({ kind: 'payment', id })

/** The errors of calls that may have started: then something of them is recorded. */
const afterBegin: ReadonlySet<ErrorCode> = new Set([
  ...(['payment_declined', 'provider_rejected', 'currency_not_supported'] as const),
  ...(['provider_unavailable', 'provider_outcome_unknown'] as const),
  ...(['payment_not_cancelable', 'payment_not_capturable', 'payment_not_refundable'] as const),
])

/** OpenAPI descriptions of the headers of these errors. */
export const changeErrorHeaders = { ...startedErrorHeaders, 409: responseHeaders.started }

/** Runs a call to the provider. Its error has X-Event-Position too, so that the next read shows what was recorded. */
export async function setPositionOnError<Result>(
  { store }: Workflow,
  reply: FastifyReply,
  payment_id: string,
  call: () => Promise<Result>,
): Promise<Result> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof DomainError && afterBegin.has(error.code)) {
      const { position } = await store.load(paymentStream(payment_id), paymentFold)
      setWriteHeaders(reply, { position })
    }
    throw error
  }
}
