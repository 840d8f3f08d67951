// The figures of what the workflows do: what they record in the log, and what they ask of the providers.
import type { AppendOutcome } from '@paylog/event-store/append/appendSpan'
import type { Metrics } from '@paylog/runtime/telemetry/metrics'
import type { ObserveProviderCall } from './observedProvider.ts'

/** @returns what to tell when an append, or a call to a provider, has ended */
export function createWorkflowMetrics(metrics: Metrics): {
  readonly append: (end: AppendOutcome) => void
  readonly providerCall: ObserveProviderCall
} {
  const appends = metrics.durations({
    name: 'event_store_append_duration_seconds',
    help: 'Time of an append until its outcome was clear, by category of the stream: recorded, conflict or failed',
    labelNames: ['category', 'outcome'],
  })
  const events = metrics.counter({
    name: 'event_store_events_appended_total',
    help: 'Events that were recorded, by category of the stream',
    labelNames: ['category'],
  })
  const calls = metrics.durations({
    name: 'provider_call_duration_seconds',
    help: 'Time of a call to a provider, by its outcome: ok, ok_throttled, throttled, the kind of the failure, or failed',
    labelNames: ['provider', 'operation', 'outcome'],
  })
  return {
    append({ category, outcome, events: count, seconds }) {
      appends({ category, outcome }, seconds)
      if (outcome === 'recorded') events({ category }, count)
    },
    providerCall: ({ provider, operation, outcome, seconds }) => calls({ provider, operation, outcome }, seconds),
  }
}
