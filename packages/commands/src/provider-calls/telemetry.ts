// Metrics and spans for provider calls and event store appends.
import { SpanKind } from '@opentelemetry/api'
import { DomainError } from '@paylog/domain/errors'
import type { AppendOutcome } from '@paylog/event-store/append/append'
import { type SeenInCall, watchCall } from '@paylog/providers/callWatch'
import type { ProductCatalog } from '@paylog/providers/productCatalog'
import { type Provider, ProviderError } from '@paylog/providers/provider'
import type { ProviderMethods } from '@paylog/providers/providerMethods'
import type { Metrics } from '@paylog/runtime/telemetry/metrics'
import { inSpan, markFailed } from '@paylog/runtime/telemetry/spans'

export type ProviderCallEnd = {
  readonly provider: string
  /** The method name: `createIntent`, `methods.attachMethod`. */
  readonly operation: string
  /**
   * `ok`; `ok_throttled` for a call that succeeded after it was throttled; `throttled`; the kind of a ProviderError
   * (`declined`, `unknown`, …); `refused` for our own DomainError, such as a bad signature; or `failed`.
   */
  readonly outcome: string
  readonly seconds: number
  /** What the provider thinks of our credentials; undefined when the call does not show it. */
  readonly credentials: SeenInCall['credentials']
}

export type ObserveProviderCall = (end: ProviderCallEnd) => void

type SynchronousNames<Calls> = {
  [Name in keyof Calls]-?: NonNullable<Calls[Name]> extends (...args: never[]) => infer Result
    ? Result extends Promise<unknown>
      ? never
      : Name
    : never
}[keyof Calls]

/** Calls that stay in the process: all synchronous ones, which the type enforces, and `close`. */
const inProcessCalls: Readonly<
  Record<
    SynchronousNames<Provider> | SynchronousNames<ProviderMethods> | SynchronousNames<ProductCatalog> | 'close',
    true
  >
> = {
  checkAmount: true,
  newPaymentId: true,
  checkNotificationHeaders: true,
  isTestMethod: true,
  readNotification: true,
  keepsPrice: true,
  checkProduct: true,
  pausedMs: true,
  close: true,
}

/** @returns observers for appends and provider calls */
export function createWorkflowMetrics(metrics: Metrics): {
  readonly append: (end: AppendOutcome) => void
  readonly providerCall: ObserveProviderCall
} {
  const appends = metrics.durations({
    name: 'event_store_append_duration_seconds',
    help: 'Duration of an append, by stream category and outcome: recorded, conflict or failed',
    labelNames: ['category', 'outcome'],
  })
  const events = metrics.counter({
    name: 'event_store_events_appended_total',
    help: 'Events appended, by stream category',
    labelNames: ['category'],
  })
  const calls = metrics.durations({
    name: 'provider_call_duration_seconds',
    help: 'Duration of a provider call, by outcome: ok, ok_throttled, throttled, the kind of the provider error, refused or failed',
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

/** Wraps a provider: each call gets a span, and is passed to `observe` when it has ended. */
export function observedProvider(provider: Provider, observe: ObserveProviderCall): Provider {
  return observedCalls(provider, '', async (operation, call) => {
    const { id } = provider
    const attributes = { 'paylog.provider': id, 'paylog.operation': operation }
    return await inSpan({ name: `${id} ${operation}`, kind: SpanKind.CLIENT, attributes }, async (span) => {
      const start = performance.now()
      const seen: SeenInCall = { wasThrottled: false }
      let outcome = 'ok'
      try {
        const result = await watchCall(seen, call)
        if (seen.wasThrottled) outcome = 'ok_throttled'
        return result
      } catch (error) {
        outcome = outcomeOf(error)
        markFailed(span, outcome)
        throw error
      } finally {
        const seconds = (performance.now() - start) / 1_000
        observe({ provider: id, operation, outcome, seconds, credentials: seen.credentials })
      }
    })
  })
}

/** A proxy that looks calls up late, so that getters and `this` of the wrapped object keep working. */
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
