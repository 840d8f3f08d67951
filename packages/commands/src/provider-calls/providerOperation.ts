// A recorded provider operation: record that it begins, call the provider with a key that follows from the record, and
// record how it ended. The next request or the reconciler repeats the call of one that has not ended, with the same key.
import type { EventMetadata, Fold } from '@paylog/domain/events'
import { requestInFlightMs } from '@paylog/domain/idempotentRequest'
import type { CallFailure } from '@paylog/domain/payments/calls'
import { hasEnded, mayHaveEffect, type ProviderCall } from '@paylog/domain/payments/providerCall'
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import type { Revision } from '@paylog/event-store/append/append'
import { causedBy, type HandledCommand, type LoadedState } from '@paylog/event-store/eventStore'
import type { StreamName } from '@paylog/event-store/streamName'
import { ProviderError } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { providerErrorCodes } from './providerErrors.ts'

/** @typeParam Result what the provider responds */
export type ProviderOperation<State, Event extends RecordedDomainEvent, Result> = {
  readonly stream: StreamName
  readonly fold: Fold<State, Event>
  /**
   * Calls the provider.
   * @param state as recorded when the operation started: the idempotency key follows from it
   * @param metadata for what the call itself records: the begin is its cause
   * @param isRepeated whether an earlier call may have reached the provider
   */
  readonly call: (state: State, metadata: EventMetadata, isRepeated: boolean) => Promise<Result>
  /** The events for a response; none if it is recorded. */
  readonly done: (result: Result, end: OperationEnd<State>) => readonly Event[]
  /** The call that has started; absent for an operation without a record of its begin. */
  readonly started?: (state: State) => ProviderCall | null
  /**
   * The events for a call that failed. Absent for an operation that the caller simply repeats: then nothing is recorded,
   * and the caller gets the ProviderError.
   */
  readonly failed?: (failure: CallFailure, end: OperationEnd<State>) => readonly Event[]
}

export type OperationEnd<State> = {
  /** As it is now. */
  readonly state: State
  readonly revision: Revision
  /** As it was when the call was made. */
  readonly stateAtCall: State
  readonly occurred_at: string
}

export type OperationContext<State> = {
  /** The state that the call is made for. */
  readonly assumed: LoadedState<State>
  readonly metadata: EventMetadata
  /** Whether an earlier call of this operation may have reached the provider. */
  readonly isRepeated?: boolean
}

/** @typeParam Result undefined when the call failed, and that is recorded */
export type EndedOperation<State, Event, Result> = HandledCommand<State, Event> & {
  readonly result: Result | undefined
}

/** `hasStarted` is false when it may not begin: then nothing is recorded, and no call is made. */
export type StartedOperation<State, Event, Result> = EndedOperation<State, Event, Result> & {
  readonly hasStarted: boolean
}

/** The events that record the begin; none when it may not begin, because it has started or ended. */
type Begin<State, Event> = (state: State, occurred_at: string, revision: Revision) => readonly Event[]

/**
 * Begins an operation and makes its call. Of concurrent requests only one begins it.
 * @throws DomainError `event_store_unavailable`, and what `begin` throws; see `callProvider`
 */
export async function beginOperation<State, Event extends RecordedDomainEvent, Result>(
  workflow: Workflow,
  operation: ProviderOperation<State, Event, Result>,
  begin: Begin<State, Event>,
  { assumed, metadata }: Pick<OperationContext<State>, 'assumed' | 'metadata'>,
): Promise<StartedOperation<State, Event, Result>> {
  const started = await workflow.store.handle({
    stream: operation.stream,
    fold: operation.fold,
    decide: (state, revision) => begin(state, workflow.now().toISOString(), revision),
    metadata,
    assumed,
  })
  if (started.events.length === 0) return { ...started, hasStarted: false, result: undefined }
  const ended = await callProvider(workflow, operation, { assumed: started, metadata: causedBy(started, metadata) })
  return { ...ended, hasStarted: true }
}

/**
 * Makes the call of an operation that has started, or that needs no record of its begin, and records how it ended. The first
 * recorded end is final: `done` and `failed` decide on the state that they find.
 * @throws ProviderError unless the operation records failures; DomainError `event_store_unavailable`
 */
export async function callProvider<State, Event extends RecordedDomainEvent, Result>(
  workflow: Workflow,
  { stream, fold, call, done, failed }: ProviderOperation<State, Event, Result>,
  { assumed, metadata, isRepeated = false }: OperationContext<State>,
): Promise<EndedOperation<State, Event, Result>> {
  const record = (decide: (end: OperationEnd<State>) => readonly Event[]) =>
    workflow.store.handle({
      stream,
      fold,
      decide: (state, revision) =>
        decide({ state, revision, stateAtCall: assumed.state, occurred_at: workflow.now().toISOString() }),
      metadata,
      assumed,
    })
  let result: Result
  try {
    result = await call(assumed.state, metadata, isRepeated)
  } catch (error) {
    if (!(error instanceof ProviderError) || !failed) throw error
    const failure = failureOf(error, isRepeated)
    return { ...(await record((end) => failed(failure, end))), result: undefined }
  }
  return { ...(await record((end) => done(result, end))), result }
}

/** A repeated call that was not reached says nothing about the earlier one. */
function failureOf(error: ProviderError, isRepeated: boolean): CallFailure {
  const { kind, rateLimit, code: failure_code, message: failure_message } = error
  const reason = { failure_code, failure_message }
  if (kind === 'unknown' || (kind === 'unavailable' && isRepeated))
    return { outcome: 'unknown', error_code: null, ...reason }
  return { outcome: rateLimit === null ? 'rejected' : 'throttled', error_code: providerErrorCodes[kind], ...reason }
}

/**
 * Repeats the call of an operation that has not ended, with the same key.
 * @returns undefined when there is none, or somebody may still be making it
 * @throws as `callProvider`
 */
export async function finishOperation<State, Event extends RecordedDomainEvent, Result>(
  workflow: Workflow,
  operation: ProviderOperation<State, Event, Result>,
  { assumed, metadata }: Pick<OperationContext<State>, 'assumed' | 'metadata'>,
): Promise<EndedOperation<State, Event, Result> | undefined> {
  const call = operation.started?.(assumed.state)
  if (!call || hasEnded(call) || isInFlight(workflow, call)) return undefined
  // A call that had no effect does not count: the next one is the first.
  return callProvider(workflow, operation, { assumed, metadata, isRepeated: mayHaveEffect(call) })
}

/**
 * Begins an operation and makes its call, or repeats the call of the one that has started and not ended.
 * @returns `madeCall`: whether this request made the call. If not, the state shows how it ended, or somebody else may still
 *   be making it.
 * @throws as `beginOperation`
 */
export async function beginOrFinish<State, Event extends RecordedDomainEvent, Result>(
  workflow: Workflow,
  operation: ProviderOperation<State, Event, Result>,
  begin: Begin<State, Event>,
  { assumed, metadata }: Pick<OperationContext<State>, 'assumed' | 'metadata'>,
): Promise<HandledCommand<State, Event> & { readonly madeCall: boolean }> {
  const started = await beginOperation(workflow, operation, begin, { assumed, metadata })
  if (started.hasStarted) return { ...started, madeCall: true }
  const finished = await finishOperation(workflow, operation, { assumed: started, metadata })
  return { ...(finished ?? started), madeCall: finished !== undefined }
}

/** Whether we assume that somebody is still making a call; see `requestInFlightMs`. */
export function isInFlight({ now }: Pick<Workflow, 'now'>, { outcome, started_at }: ProviderCall): boolean {
  return outcome === 'open' && now().getTime() - Date.parse(started_at) < requestInFlightMs
}
