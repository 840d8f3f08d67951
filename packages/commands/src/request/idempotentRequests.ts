// Requests with an Idempotency-Key whose result is recorded in a separate stream: each is processed once, and its
// response is replayed. A route finds the earlier request, and either replays its response or validates and processes.
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata, LogPosition } from '@paylog/domain/events'
import {
  endRequest,
  type FinalResponse,
  finalResponse,
  type IdempotentRequest,
  type IdempotentRequestEvent,
  idempotentRequestFold,
  type RecordedEnd,
  recordedResponse,
  startRequest,
} from '@paylog/domain/idempotentRequest'
import { subjectNamed } from '@paylog/domain/personalData'
import { type LoadedState, newStream } from '@paylog/event-store/eventStore'
import { idempotentRequestStream } from '@paylog/event-store/streamName'
import type { Workflow } from '../context.ts'
import { beginOperation, type ProviderOperation } from '../provider-calls/providerOperation.ts'

export type RepeatableRequest = {
  /** Derived from the Idempotency-Key; random without one. */
  readonly request_id: string
  /** SHA-256 of the request; null without an Idempotency-Key, when nothing is recorded. */
  readonly request_fingerprint: string | null
  readonly metadata: EventMetadata
}

export type OwnedRequest = RepeatableRequest & {
  /** Whose request it is; see `ownerOf`. */
  readonly owner: string
  /** How long we assume the first request is still running. */
  readonly inFlightMs: number
}

/** The response that a repeated request gets, and its position. */
export type RecordedResponse = { readonly response: FinalResponse; readonly position: LogPosition | undefined }

/** What an earlier request with the same key left: a response, or a request that is to be processed. */
export type EarlierRequest = {
  readonly recorded: RecordedResponse | null
  readonly assumed: LoadedState<IdempotentRequest>
}

/** What a request does. */
export type RequestWork<Outcome> = {
  readonly provider_id: string
  /** @param metadata for what it records: the start of the request is its cause */
  readonly process: (metadata: EventMetadata) => Promise<Outcome>
  /** The response to record. */
  readonly responseOf: (outcome: Outcome) => FinalResponse
  /** The response to record for an error, if that is final too. */
  readonly finalError?: (error: unknown) => FinalResponse | undefined
}

export type Processed<Outcome> =
  /** `position` is that of the recorded response; undefined without a key. */
  | { readonly outcome: Outcome; readonly position: LogPosition | undefined }
  /** Another request with the same key was faster. */
  | { readonly recorded: RecordedResponse }

const foldFor = (owner: string) => ({ ...idempotentRequestFold, subjectOf: () => subjectNamed(owner) })

/**
 * Finds the earlier request with the same key. What it recorded is the response; only without that a request is processed.
 * @throws DomainError `idempotency_key_reused`, `idempotency_key_in_flight`, `event_store_unavailable`
 */
export async function earlierRequest(workflow: Workflow, request: OwnedRequest): Promise<EarlierRequest> {
  const { request_id, request_fingerprint, owner, inFlightMs } = request
  if (request_fingerprint === null) return { recorded: null, assumed: newStream(idempotentRequestFold) }
  const assumed = await workflow.store.load(idempotentRequestStream(request_id), foldFor(owner))
  const occurred_at = workflow.now().toISOString()
  const response = recordedResponse({ request_id, request_fingerprint, inFlightMs, occurred_at }, assumed.state)
  return { assumed, recorded: response && { response, position: assumed.position } }
}

/**
 * Processes a request, once for each key. The first recorded response is final.
 * @param earlier without a response
 * @throws DomainError `idempotency_key_reused`, `idempotency_key_in_flight`, `event_store_unavailable`, and what the work
 *   throws
 */
export async function processOnce<Outcome>(
  workflow: Workflow,
  { request_id, request_fingerprint, owner, inFlightMs, metadata }: OwnedRequest,
  { assumed }: EarlierRequest,
  { provider_id, process, responseOf, finalError }: RequestWork<Outcome>,
): Promise<Processed<Outcome>> {
  if (request_fingerprint === null) return { outcome: await process(metadata), position: undefined }
  type Ended = { readonly response: RecordedEnd } & ({ readonly outcome: Outcome } | { readonly error: unknown })
  const operation: ProviderOperation<IdempotentRequest, IdempotentRequestEvent, Ended> = {
    stream: idempotentRequestStream(request_id),
    fold: foldFor(owner),
    async call(_request, caused) {
      try {
        const outcome = await process(caused)
        return { outcome, response: responseOf(outcome) }
      } catch (error) {
        // Recording would fail as well. The key is free again after `inFlightMs`.
        if (error instanceof DomainError && error.code === 'event_store_unavailable') throw error
        return { error, response: finalError?.(error) ?? { kind: 'failed' } }
      }
    },
    done: ({ response }, { state, occurred_at }) => endRequest({ request_id, occurred_at, response }, state),
  }
  const begin = (request: IdempotentRequest, occurred_at: string) =>
    startRequest({ request_id, request_fingerprint, inFlightMs, occurred_at, provider_id }, request)
  const ended = await beginOperation(workflow, operation, begin, { assumed, metadata })
  const { result } = ended
  if (result && 'error' in result) throw result.error
  // If a slow request was overtaken by its repetition, both return the recorded response.
  const { position } = ended
  const response = finalResponse(ended.state)
  if (response && (!result || ended.events.length === 0)) return { recorded: { response, position } }
  if (!result) throw new Error('a request that may not start has a response')
  return { outcome: result.outcome, position }
}
