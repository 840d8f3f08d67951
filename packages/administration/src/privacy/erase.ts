// Erases a person: removes them at the providers, records the erasure, destroys their keys, and waits for everything that was
// derived from the log.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Workflow } from '@paylog/commands/context'
import { type PersonAtProviders, type ProviderRemoval, removeAtProviders } from '@paylog/commands/erasePerson'
import { erasureFold } from '@paylog/domain/erasures'
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata, LogPosition } from '@paylog/domain/events'
import { payerOf, paymentFold } from '@paylog/domain/payments/fold'
import { providerCustomerFold } from '@paylog/domain/providerCustomer'
import { providerNames } from '@paylog/domain/providerEvents'
import { type EventStore, newStream } from '@paylog/event-store/eventStore'
import { erasureStream, paymentStream, providerCustomerStream } from '@paylog/event-store/streamName'
import type { PersonalDataKeys, Subject } from '@paylog/privacy/dataKeys'
import { destroyKeys, presentKeys } from '@paylog/privacy/destroyKeys'
import { replayErasures } from '@paylog/privacy/replayErasures'
import { countDeliveries } from '@paylog/webhooks/deliveries/operations/deliveriesOfStreams'
import type { Pool } from 'pg'
import { findTraces, idsOf, noTraces, ownKeyNames, type PersonTraces, type ScanProgress } from './personTraces.ts'
import { readersBehind } from './readersBehind.ts'

export type Erasing = Workflow & {
  /** Of the owner of the tables. */
  readonly pool: Pool
  readonly keys: Pick<PersonalDataKeys, 'find' | 'present'>
}

export type EraseStep =
  | 'reading the log'
  | 'removing at the providers'
  | 'destroying the keys'
  | 'emptying what was derived'

export type EraseRequest = {
  readonly erasureId: string
  readonly metadata: EventMetadata
  readonly signal: AbortSignal
  readonly onProgress: (step: EraseStep, scan: ScanProgress | undefined) => void
}

type Listed = { readonly count: number; readonly ids: readonly string[] }

/** What there is of a person. No field holds personal data. */
export type Findings = {
  readonly keys: number
  readonly user_ids: readonly string[]
  readonly payments: Listed
  /** Payments of others that have the person's guest data. */
  readonly guest_in_payments: Listed
  readonly payment_methods: Listed
  readonly addresses: Listed
  readonly guest_tokens: number
  /** Notifications that were stored on their own, setup intents, webhook tests. */
  readonly other_streams: number
  readonly deliveries: number
  readonly provider_customers: readonly { readonly provider_id: string; readonly provider_customer_id: string }[]
}

export type ErasureReport = Findings & {
  /** Null when the keys had been destroyed before, so that there was nothing to record. */
  readonly erasure_id: string | null
  readonly at_providers: readonly ProviderRemoval[]
  /** What has not been emptied yet. It is, as soon as it runs; provider bodies, once they are no longer kept. */
  readonly behind: readonly string[]
  /** Whether nothing is left to do. */
  readonly is_complete: boolean
}

/** More than a person has. */
const maxListed = 1_000
/** For the read models and the worker. */
const maxWaitMs = 60_000
const pollMs = 250

export type Person = {
  readonly subject: Subject
  readonly keyIds: readonly string[]
  readonly traces: PersonTraces
  readonly findings: Findings
}

/**
 * What there is of a person, which an erasure would remove. Reads the whole log. Of an e-mail or a payment there may be nothing:
 * what was erased is not kept.
 * @throws DomainError `not_found` when nothing is known of a user, or a payment does not exist; `event_store_unavailable`; errors of Postgres; the
 *   reason of the signal
 */
export async function findPerson(
  { keys, store, pool }: Erasing,
  subject: Subject,
  { signal, onProgress }: Pick<EraseRequest, 'signal' | 'onProgress'>,
): Promise<Person> {
  const named = await keys.find(subject)
  if ('payment' in subject) await requireAnonymous(store, subject.payment, named)
  const userId = 'user' in subject ? subject.user : undefined
  const isNothing = named.length === 0 && userId === undefined
  const mayBeErased = !('user' in subject)
  if (isNothing && !mayBeErased) throw nothingKnown()
  const onScan = (scan: ScanProgress) => onProgress('reading the log', scan)
  const traces = isNothing
    ? noTraces
    : await findTraces(store, { keyIds: named, userId }, { signal, onProgress: onScan })
  if (named.length + traces.streams.length === 0 && !mayBeErased) throw nothingKnown()
  const keyIds = [...new Set([...named, ...(await keys.present(ownKeyNames(traces)))])]
  return { subject, keyIds, traces, findings: await findingsOf({ store, pool }, keyIds, traces) }
}

/**
 * Erases a person. It may be repeated: what a provider could not remove is tried again, and data that was recorded since is erased.
 * @throws DomainError `event_store_unavailable`; errors of Postgres; the reason of the signal
 */
export async function erasePerson(erasing: Erasing, person: Person, request: EraseRequest): Promise<ErasureReport> {
  const { pool, store } = erasing
  const { erasureId, metadata, signal, onProgress } = request
  onProgress('removing at the providers', undefined)
  // Before the keys are destroyed: afterwards a guest's methods cannot be told from others.
  const removed = await removeEverywhere(erasing, person, metadata)
  signal.throwIfAborted()
  onProgress('destroying the keys', undefined)
  const recorded = person.keyIds.length > 0
  const position = recorded ? await record(erasing, erasureId, person.keyIds, metadata) : await store.head()
  await destroyKeys(pool, person.keyIds)
  // Also what an interrupted erasure has left.
  await replayErasures(pool, store)
  onProgress('emptying what was derived', undefined)
  const late = position === undefined ? [] : await waitUntilPast(erasing, position, request)
  const behind = (await hasOpenBodies(pool, person)) ? [...late, 'provider bodies'] : late
  return {
    ...person.findings,
    erasure_id: recorded ? erasureId : null,
    at_providers: removed,
    behind,
    is_complete: behind.length === 0 && removed.every(({ outcome }) => outcome === 'deleted'),
  }
}

const nothingKnown = () => new DomainError('not_found', 'Nothing is known of this person')

/** The payer of an owned payment is erased as a user or a guest, with everything else of theirs. */
async function requireAnonymous(store: EventStore, id: string, keyIds: readonly string[]): Promise<void> {
  if (keyIds.length > 0) return
  const { state } = await store.load(paymentStream(id), paymentFold)
  if (state.status === 'none') throw new DomainError('not_found', 'There is no such payment')
  if (state.payer.id !== null) throw ownedBy(`user ${state.payer.id}`)
  if (payerOf(state).name !== `payment:${id}`) throw ownedBy('a guest, who is erased by e-mail')
}

const ownedBy = (owner: string) => new DomainError('not_found', `The payment is not anonymous: it belongs to ${owner}`)

async function findingsOf(
  { store, pool }: Pick<Erasing, 'store' | 'pool'>,
  keyIds: readonly string[],
  traces: PersonTraces,
): Promise<Findings> {
  const { userIds, streams, guestStreams } = traces
  const [payments, methods, addresses] = (['payment', 'paymentMethod', 'address'] as const).map((category) =>
    idsOf(traces, category),
  ) as [string[], string[], string[]]
  const guestTokens = idsOf(traces, 'guestToken').length
  const customers = idsOf(traces, 'providerCustomer').length
  return {
    keys: keyIds.length,
    user_ids: userIds.slice(0, maxListed),
    payments: listed(payments),
    guest_in_payments: listed(idsOf({ streams: guestStreams }, 'payment')),
    payment_methods: listed(methods),
    addresses: listed(addresses),
    guest_tokens: guestTokens,
    other_streams: streams.length - payments.length - methods.length - addresses.length - guestTokens - customers,
    deliveries: await countDeliveries(pool, [...streams, ...guestStreams]),
    provider_customers: await customersOf(store, userIds),
  }
}

const listed = (ids: readonly string[]): Listed => ({ count: ids.length, ids: ids.slice(0, maxListed) })

/** The customers of these users that no erasure has deleted at the providers yet. */
export async function customersOf(
  store: Pick<EventStore, 'load'>,
  userIds: readonly string[],
): Promise<Findings['provider_customers']> {
  const found: Findings['provider_customers'][number][] = []
  for (const user of userIds)
    for (const provider_id of providerNames) {
      const { state } = await store.load(providerCustomerStream(provider_id, user), providerCustomerFold)
      const { provider_customer_id } = state
      if (provider_customer_id !== null) found.push({ provider_id, provider_customer_id })
    }
  return found
}

async function removeEverywhere(
  workflow: Workflow,
  { subject, traces }: Person,
  metadata: EventMetadata,
): Promise<readonly ProviderRemoval[]> {
  const payment_method_ids = idsOf(traces, 'paymentMethod')
  const persons: PersonAtProviders[] = traces.userIds.map((user_id) => ({ user_id, payment_method_ids }))
  if ('email' in subject) persons.push({ guest_email: subject.email, payment_method_ids })
  const removed: ProviderRemoval[] = []
  for (const person of persons) removed.push(...(await removeAtProviders(workflow, person, metadata)))
  return removed
}

/** Before the keys are destroyed: whoever meets the event destroys them, so a crash in between leaves nothing undone. */
async function record(
  { store, now }: Workflow,
  erasure_id: string,
  keyIds: readonly string[],
  metadata: EventMetadata,
): Promise<LogPosition | undefined> {
  const data = { erasure_id, occurred_at: now().toISOString(), key_ids: [...keyIds] }
  const { position } = await store.handle({
    stream: erasureStream(erasure_id),
    fold: erasureFold,
    decide: (isRecorded) => (isRecorded ? [] : [{ type: 'SubjectErased', data }]),
    metadata,
    assumed: newStream(erasureFold),
  })
  return position
}

/** Whether there are provider bodies about the person that only the end of their retention erases. */
async function hasOpenBodies(pool: Pool, { keyIds, traces }: Person): Promise<boolean> {
  const destroyed = new Set(keyIds)
  const open = traces.bodies.filter((ids) => !ids.some((id) => destroyed.has(id)))
  const present = new Set(await presentKeys(pool, [...new Set(open.flat())]))
  return open.some((ids) => ids.every((id) => present.has(id)))
}

/** @returns what is still behind at the end */
async function waitUntilPast(
  { pool, store }: Erasing,
  position: LogPosition,
  { signal }: EraseRequest,
): Promise<readonly string[]> {
  const giveUpAt = performance.now() + maxWaitMs
  for (;;) {
    const names = await readersBehind(pool, store, position)
    if (names.length === 0 || performance.now() >= giveUpAt || signal.aborted) return names
    await sleep(pollMs)
  }
}
