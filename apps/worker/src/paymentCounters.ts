// Counts refunds, disputes and what needs attention, and logs the last of these.
import { attentionMessage } from '@paylog/domain/payments/attention'
import { AttentionCode, DisputeStatus } from '@paylog/domain/payments/events'
import type { Recorded } from '@paylog/event-store/codec/codec'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Metrics } from '@paylog/runtime/telemetry/metrics'

const refundOutcomes = ['succeeded', 'failed', 'failed_after_success'] as const
type RefundOutcome = (typeof refundOutcomes)[number]

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
  return (events) => {
    for (const event of events) {
      const refund = endedRefund(event)
      if (refund) countRefund(refund)
      if (event.type === 'PaymentDisputeRecorded' && event.data.is_new_status)
        countDispute({ provider: event.data.provider_id, status: event.data.status })
      if (!('attention' in event.data) || event.data.attention === undefined) continue
      const { payment_id, provider_id, attention: code } = event.data
      countAttention({ provider: provider_id, code })
      const { correlationId } = event.metadata
      const about = { payment_id, provider_id, code, correlationId, event_id: event.id }
      log.warn(about, `payment needs attention: ${attentionMessage(code)}`)
    }
  }
}

/** @returns undefined unless the event ends a refund */
function endedRefund({ type, data }: Recorded): { provider: string; outcome: RefundOutcome } | undefined {
  if (type === 'RefundRecorded') {
    const { provider_id: provider, status, was_succeeded } = data
    if (status === 'failed') return { provider, outcome: was_succeeded ? 'failed_after_success' : 'failed' }
    return status === 'succeeded' && !was_succeeded ? { provider, outcome: 'succeeded' } : undefined
  }
  if (type !== 'ProviderCallFailed') return undefined
  // After `provider_unavailable` the refund can be requested again.
  const isRejected = data.call === 'refund' && data.outcome === 'rejected' && data.refusal !== 'provider_unavailable'
  return isRejected ? { provider: data.provider_id, outcome: 'failed' } : undefined
}
