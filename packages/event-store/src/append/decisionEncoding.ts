// What a decision records: its events as they are stored, and the state after them.
import { randomUUIDv7 } from 'node:crypto'
import type { EventData } from '@eventstore/db-client'
import type { DomainEvent, EventMetadata, Fold } from '@paylog/domain/events'
import { type SealedPart, type Subject, sealedParts } from '@paylog/domain/personalData'
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import type { Codec } from '../codec/codec.ts'
import type { DataKeys } from '../codec/dataKeys.ts'
import { keysForParts, type OwnerKeys, ownerKeys } from '../codec/partKeys.ts'
import type { StreamName } from '../streamName.ts'

type Decision<State, Event extends DomainEvent> = {
  readonly stream: StreamName
  readonly fold: Fold<State, Event>
  readonly before: { readonly state: State; readonly owners?: OwnerKeys }
  readonly decided: readonly Event[]
  readonly subject: Subject | null | undefined
  readonly owners: OwnerKeys | undefined
}

export type NewEvents<State, Event> = {
  readonly state: State
  readonly owners: OwnerKeys
  readonly events: readonly Event[]
  /** The id of the first of them, which the other ones name as their cause. */
  readonly firstEventId: string
  readonly encoded: (metadata: EventMetadata) => EventData[]
}

/**
 * @returns a function that makes the keys available which the events of a decision need, and leaves out the data of persons
 *   who were erased; it throws DomainError `service_unavailable`
 */
export function createDecisionEncoding(codec: Codec, keys: DataKeys) {
  return async <State, Event extends RecordedDomainEvent>({
    stream,
    fold,
    before,
    decided,
    ...named
  }: Decision<State, Event>): Promise<NewEvents<State, Event>> => {
    const decidedState = decided.reduce(fold.evolve, before.state)
    const subject = named.subject ?? fold.subjectOf?.(decidedState) ?? null
    const isNew = decided.some(({ type }) => codec.isOwner(type))
    const known = isNew ? {} : (named.owners ?? before.owners ?? {})
    const parts = new Set(decided.flatMap(codec.partsOf))
    const found = await keysForParts(keys, parts, { stream, subject, owners: known })
    const keysOf = (part: SealedPart) => found.get(part) ?? []
    const lost = sealedParts.filter((part) => found.get(part) === null)
    const events = lost.length === 0 ? decided : decided.map((event) => codec.withoutParts(event, lost))
    const firstEventId = randomUUIDv7()
    return {
      state: lost.length === 0 ? decidedState : events.reduce(fold.evolve, before.state),
      owners: isNew ? ownerKeys(found.get('personal')?.[0]?.id, found.get('guest')?.[1]?.id) : known,
      events,
      firstEventId,
      encoded(metadata) {
        const following = { ...metadata, causationId: firstEventId }
        return events.map((event, index) =>
          index === 0
            ? codec.encode(event, firstEventId, metadata, { stream, keysOf })
            : codec.encode(event, randomUUIDv7(), following, { stream, keysOf }),
        )
      },
    }
  }
}
