// Counts refunds, disputes and what needs attention, and logs what somebody has to act on.
import { attentionMessage } from '@paylog/domain/payments/attention'
import { AttentionCode, DisputeStatus } from '@paylog/domain/payments/events'
import type { Recorded } from '@paylog/event-store/codec/codec'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Metrics } from '@paylog/runtime/telemetry/metrics'

const refundOutcomes = ['succeeded', 'failed', 'failed_after_success'] as const
type RefundOutcome = (typeof refundOutcomes)[number]
type RefundEvent = Extract<Recorded, { type: 'RefundRecorded' | 'ProviderCallFailed' }>

/**
 * @param options `providers` are the enabled ones, which start at zero: Prometheus would miss the first increase of a counter
 *   that appears with it
 * @returns a function to call once with all events that were read
 */
export function createPaymentCounters(
  metrics: Metrics,
  { providers, log }: { readonly providers: Iterable<string>; readonly log: Pick<Logger, 'warn'> },
): (events: readonly Recorded[]) => void {
  const countRefund = metrics.counter({
    name: 'payment_refunds_total',
    help: 'Refunds by outcome: succeeded, failed, or failed_after_success',
    labelNames: ['provider', 'outcome'],
  })
  const countDispute = metrics.counter({
    name: 'payment_disputes_total',
    help: 'Disputes that were opened (open) or closed (won, lost)',
    labelNames: ['provider', 'status'],
  })
  const countAttention = metrics.counter({
    name: 'payment_attention_total',
    help: 'Facts about payments that a person has to look at, by code',
    labelNames: ['provider', 'code'],
  })
  for (const provider of providers) {
    for (const outcome of refundOutcomes) countRefund({ provider, outcome }, 0)
    for (const status of DisputeStatus.enum) countDispute({ provider, status }, 0)
    for (const code of AttentionCode.enum) countAttention({ provider, code }, 0)
  }
  function reportRefund(event: RefundEvent): void {
    const { provider_id, payment_id, refund_id, failure_code } = event.data
    const outcome = refundOutcome(event)
    if (outcome === undefined) return
    countRefund({ provider: provider_id, outcome })
    if (outcome !== 'succeeded')
      log.warn({ provider_id, payment_id, refund_id, failure_code, ...sourceOf(event) }, 'a refund failed')
  }
  return (events) => {
    for (const event of events) {
      if (event.type === 'RefundRecorded' || event.type === 'ProviderCallFailed') reportRefund(event)
      if (event.type === 'PaymentDisputeRecorded' && event.data.is_new_status)
        countDispute({ provider: event.data.provider_id, status: event.data.status })
      if (!('attention' in event.data) || !event.data.attention) continue
      const { payment_id, provider_id, attention: code } = event.data
      countAttention({ provider: provider_id, code })
      log.warn(
        { provider_id, payment_id, code, ...sourceOf(event) },
        `payment needs attention: ${attentionMessage(code)}`,
      )
    }
  }
}

const sourceOf = ({ id, metadata }: Recorded) => ({ event_id: id, correlationId: metadata.correlationId })

/** @returns undefined when the refund has not ended, or ended before */
function refundOutcome({ type, data }: RefundEvent): RefundOutcome | undefined {
  if (type === 'RefundRecorded') {
    if (data.status === 'failed') return data.was_succeeded ? 'failed_after_success' : 'failed'
    return data.status === 'succeeded' && !data.was_succeeded ? 'succeeded' : undefined
  }
  if (data.call !== 'refund' || data.outcome !== 'rejected') return undefined
  // After `provider_unavailable` the refund can be requested again.
  return data.error_code === 'provider_unavailable' ? undefined : 'failed'
}
