// Tells how the calls to a provider end, without a provider knowing of it.
import { SpanKind } from '@opentelemetry/api'
import { DomainError } from '@paylog/domain/errors'
import type { AppendOutcome } from '@paylog/event-store/append/append'
import { watchThrottling } from '@paylog/providers/pacing'
import type { ProductCatalog } from '@paylog/providers/productCatalog'
import { type Provider, ProviderError, type ProviderMethods } from '@paylog/providers/provider'
import type { Metrics } from '@paylog/runtime/telemetry/metrics'
import { inSpan, markFailed } from '@paylog/runtime/telemetry/spans'

export type ProviderCallEnd = {
  readonly provider: string
  /** The name of the call: `createIntent`, `methods.attachMethod`. */
  readonly operation: string
  /**
   * `ok`; `ok_throttled` for one that went well after it was throttled; `throttled`; the kind of a ProviderError (`declined`,
   * `unknown`, …); `refused` for what we do not take ourselves (a bad signature); or `failed`.
   */
  readonly outcome: string
  readonly seconds: number
}

export type ObserveProviderCall = (end: ProviderCallEnd) => void

type SynchronousNames<Calls> = {
  [Name in keyof Calls]: NonNullable<Calls[Name]> extends (...args: never[]) => infer Result
    ? Result extends Promise<unknown>
      ? never
      : Name
    : never
}[keyof Calls]

/** Calls that stay within the process: all that answer at once, which the compiler sees to, and `close`. */
const inProcessCalls: Readonly<
  Record<
    SynchronousNames<Provider> | SynchronousNames<ProviderMethods> | SynchronousNames<ProductCatalog> | 'close',
    true
  >
> = {
  checkAmount: true,
  checkNotificationHeaders: true,
  isTestMethod: true,
  readNotification: true,
  keepsPrice: true,
  checkProduct: true,
  close: true,
}

/** The same provider, with every call that it makes told to `observe` when it has ended, and a span for each. */
export function observedProvider(provider: Provider, observe: ObserveProviderCall): Provider {
  return observedCalls(provider, '', async (operation, call) => {
    const { id } = provider
    const attributes = { 'paylog.provider': id, 'paylog.operation': operation }
    return await inSpan({ name: `${id} ${operation}`, kind: SpanKind.CLIENT, attributes }, async (span) => {
      const start = performance.now()
      const seen = { wasThrottled: false }
      let outcome = 'ok'
      try {
        const result = await watchThrottling(seen, call)
        if (seen.wasThrottled) outcome = 'ok_throttled'
        return result
      } catch (error) {
        outcome = outcomeOf(error)
        markFailed(span, outcome)
        throw error
      } finally {
        observe({ provider: id, operation, outcome, seconds: (performance.now() - start) / 1_000 })
      }
    })
  })
}

/** Looked up when they are called, so that whatever a provider is made of stays as it is. */
function observedCalls<Calls extends object>(
  calls: Calls,
  prefix: string,
  around: (operation: string, call: () => unknown) => Promise<unknown>,
): Calls {
  return new Proxy(calls, {
    get(_, name): unknown {
      const value: unknown = Reflect.get(calls, name)
      if (typeof name === 'symbol' || name in inProcessCalls) return value
      if (typeof value === 'function')
        return (...args: readonly unknown[]) => around(`${prefix}${name}`, () => value.apply(calls, args))
      const isPart = (name === 'methods' || name === 'catalog') && typeof value === 'object' && value !== null
      return isPart ? observedCalls(value, `${name}.`, around) : value
    },
  })
}

function outcomeOf(error: unknown): string {
  if (error instanceof ProviderError) return error.rateLimit === null ? error.kind : 'throttled'
  return error instanceof DomainError ? 'refused' : 'failed'
}

// The figures of what the workflows do: what they record in the log, and what they ask of the providers.

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
