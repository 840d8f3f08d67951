// The keys of the parts of an event: which names they have, by whose data it is and by the day.

import type { EventData } from '@eventstore/db-client'
import type { EventMetadata } from '@paylog/domain/events'
import type { SealedPart, Subject } from '@paylog/domain/personalData'
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import type { Codec } from './codec.ts'
import type { DataKey, DataKeys } from './dataKeys.ts'

type Encode = (event: RecordedDomainEvent, id: string, metadata: EventMetadata) => EventData

/** @returns a function that makes the keys available which some events of a stream need, and then encodes these events */
export function createEncoding(codec: Pick<Codec, 'encode' | 'partsOf'>, keys: Pick<DataKeys, 'named' | 'seen'>) {
  return async (stream: string, events: readonly RecordedDomainEvent[], subject: Subject | null): Promise<Encode> => {
    const keysOf = await keysForParts(keys, new Set(events.flatMap(codec.partsOf)), { stream, subject })
    return (event, id, metadata) => codec.encode(event, id, metadata, { stream, keysOf })
  }
}

/** Where events are appended, and whose data they hold if that is known. */
type Place = { readonly stream: string; readonly subject: Subject | null }

/**
 * Makes the keys available that some parts are sealed with.
 * @throws DomainError `service_unavailable`
 */
async function keysForParts(
  keys: Pick<DataKeys, 'named' | 'seen'>,
  parts: ReadonlySet<SealedPart>,
  place: Place,
): Promise<(part: SealedPart) => readonly DataKey[]> {
  const { subject } = place
  const day = new Date().toISOString().slice(0, 10)
  const namesOf = new Map([...parts].map((part) => [part, keyNames(part, place, day)]))
  const names = [...new Set([...namesOf.values()].flat())]
  if (subject !== null && subject.email !== null && names.includes(subject.name))
    await keys.seen(subject.name, subject.email)
  const found = names.length === 0 ? [] : await keys.named(names)
  const byName = new Map(names.map((name, index) => [name, found[index]]))
  return (part) => (namesOf.get(part) ?? []).flatMap((name) => byName.get(name) ?? [])
}

function keyNames(part: SealedPart, { stream, subject }: Place, day: string): readonly string[] {
  const own = subject === null ? [] : [subject.name]
  if (part === 'body' || part === 'secret') return [...own, `${part}:${day}`]
  if (part === 'guest' && subject?.guest) return [...own, subject.guest]
  return own.length > 0 ? own : [nameOfStream(stream)]
}

/** The name of the key of a stream that belongs to nobody: `address:<id>`. */
const nameOfStream = (stream: string) => stream.replace('-', ':')
