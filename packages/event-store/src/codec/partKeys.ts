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
    const keysOf = await keysForParts(keys, new Set(events.flatMap(codec.partsOf)), subject)
    return (event, id, metadata) => codec.encode(event, id, metadata, { stream, keysOf })
  }
}

/**
 * Makes the keys available that some parts are sealed with.
 * @param subject null where it is not known: only a bucket's key then seals a body or a secret
 * @throws DomainError `service_unavailable`; Error when a part would have no key: a bug of ours
 */
async function keysForParts(
  keys: Pick<DataKeys, 'named' | 'seen'>,
  parts: ReadonlySet<SealedPart>,
  subject: Subject | null,
): Promise<(part: SealedPart) => readonly DataKey[]> {
  const day = new Date().toISOString().slice(0, 10)
  const namesOf = (part: SealedPart) => keyNames(part, subject, day)
  const names = [...new Set([...parts].flatMap(namesOf))]
  if (subject !== null && subject.email !== null && names.includes(subject.name))
    await keys.seen(subject.name, subject.email)
  const found = names.length === 0 ? [] : await keys.named(names)
  const byName = new Map(names.map((name, index) => [name, found[index]]))
  return (part) => {
    const partKeys = namesOf(part).flatMap((name) => byName.get(name) ?? [])
    if (partKeys.length === 0) throw new Error(`The stream's fold does not say whose data the part ${part} is`)
    return partKeys
  }
}

function keyNames(part: SealedPart, subject: Subject | null, day: string): readonly string[] {
  const own = subject === null ? [] : [subject.name]
  if (part === 'personal') return own
  if (part === 'guest') return subject?.guest ? [...own, subject.guest] : own
  return [...own, `${part}:${day}`]
}
