// Queries the providers about many payments, a few at a time.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Workflow } from '@paylog/commands/context'
import {
  type Reconciliation,
  type Finding as ReconciliationFinding,
  reconcilePayment,
} from '@paylog/commands/payments/reconcilePayment'
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata } from '@paylog/domain/events'
import { withPriority } from '@paylog/providers/pacing'
import { pMapIterable } from 'p-map'

/** `stateless`: the provider keeps nothing that could be queried. */
export type Finding = ReconciliationFinding | 'stateless'

export type ReconcileResult = {
  readonly payment_id: string
  readonly provider_id: string
  readonly finding: Finding
  /** Absent when the provider was not queried. */
  readonly reconciliation: Reconciliation | undefined
  readonly problem: string | undefined
}

const maxConcurrent = 8
/** How long queries about several payments may share a response of the provider. */
const maxAgeMs = 5 * 60_000
/** Delays before retrying a provider that cannot be reached, such as a rejected connection. */
const pausesMs: readonly number[] = [500, 1_000, 2_000]
/** A provider that does not respond costs 10 s per payment. After this many failures in a row it is skipped. */
const maxFailuresInARow = 3 * maxConcurrent

export type QueryOptions = {
  readonly metadata: EventMetadata
  /** When it aborts, no further query starts. Those under way finish. */
  readonly signal: AbortSignal
  readonly pausesMs?: readonly number[]
}

/**
 * Reconciles payments with their providers.
 * @param payments payment id to provider id
 * @returns one result per payment, in order
 * @throws DomainError `event_store_unavailable`
 */
export async function* queryProviders(
  workflow: Workflow,
  payments: ReadonlyMap<string, string>,
  options: QueryOptions,
): AsyncGenerator<ReconcileResult> {
  /** Failures in a row of each provider, and the latest reason. */
  const failures = new Map<string, { readonly inARow: number; readonly problem: string | undefined }>()

  async function query([payment_id, provider_id]: readonly [string, string]): Promise<ReconcileResult> {
    const failed = failures.get(provider_id)
    if (failed && failed.inARow >= maxFailuresInARow)
      return { payment_id, provider_id, finding: 'unreachable', reconciliation: undefined, problem: failed.problem }
    const response = await queryWithRetries(workflow, { payment_id, provider_id }, options)
    if (hasResponse(response)) failures.delete(provider_id)
    else failures.set(provider_id, { inARow: (failures.get(provider_id)?.inARow ?? 0) + 1, problem: response.problem })
    return response
  }
  const errors: unknown[] = []
  function* due() {
    for (const payment of payments) {
      if (options.signal.aborted || errors.length > 0) return
      yield payment
    }
  }
  // An error ends the run once the calls under way have finished, because they may change something at the provider.
  const settled = (payment: readonly [string, string]) =>
    query(payment).catch((error: unknown) => {
      errors.push(error)
      return undefined
    })
  let isOver = false
  for await (const result of pMapIterable(due(), settled, { concurrency: maxConcurrent })) {
    isOver ||= result === undefined
    if (result !== undefined && !isOver) yield result
  }
  if (errors.length > 0) throw errors[0]
}

type ReconcileTarget = Pick<ReconcileResult, 'payment_id' | 'provider_id'>

async function queryWithRetries(
  workflow: Workflow,
  target: ReconcileTarget,
  { metadata, signal, pausesMs: pauses = pausesMs }: QueryOptions,
): Promise<ReconcileResult> {
  for (const pauseMs of pauses) {
    const response = await queryOne(workflow, target, metadata)
    if (response.finding !== 'unreachable' || !workflow.providers.has(target.provider_id)) return response
    await sleep(pauseMs, undefined, { signal }).catch(() => {})
    if (signal.aborted) return response
  }
  return queryOne(workflow, target, metadata)
}

async function queryOne(
  workflow: Workflow,
  { payment_id, provider_id }: ReconcileTarget,
  metadata: EventMetadata,
): Promise<ReconcileResult> {
  try {
    const reconciliation = await withPriority('reconciler', () =>
      reconcilePayment(workflow, payment_id, metadata, { maxAgeMs }),
    )
    const { finding, problem } = reconciliation
    const provider = workflow.providers.get(provider_id)
    const isStateless = finding === 'same' && provider?.retrieveIntent === null
    return { payment_id, provider_id, finding: isStateless ? 'stateless' : finding, reconciliation, problem }
  } catch (error) {
    // The payment keeps changing concurrently. The other payments can still be checked.
    if (!(error instanceof DomainError) || error.code !== 'concurrent_modification') throw error
    return { payment_id, provider_id, finding: 'unknown', reconciliation: undefined, problem: error.code }
  }
}

/** Without a problem, the provider responded that it has no outcome either. */
function hasResponse({ finding, problem }: ReconcileResult): boolean {
  return finding !== 'unreachable' && (finding !== 'unknown' || problem === undefined)
}
