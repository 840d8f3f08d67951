// The keys of a log in memory, and its events as they are read without some of them.
import { createSecretKey } from 'node:crypto'
import type { LogCheckpoint } from '@paylog/domain/events'
import type { SealedPart, Subject } from '@paylog/domain/personalData'
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import { domainCodec } from '@paylog/event-store/codec/codec'
import type { SealedKeys } from '@paylog/event-store/codec/sealing'

export type LoggedEvent = RecordedDomainEvent & {
  /** The id of the resource. */
  readonly id: string
  readonly revision: bigint
  readonly position: LogCheckpoint
  readonly sealed: SealedKeys
}

/** The bucket of all client secrets, until it is destroyed. */
export const secretBucket = 'secret:2026-03-01'

/** The present keys by name, as `DataKeys` names them. */
export function createLogKeys() {
  const present = new Map<string, string>()
  let made = 0
  const idOf = (name: string) => {
    const known = present.get(name)
    if (known !== undefined) return known
    made += 1
    const id = `00000000-0000-7000-8fff-${String(made).padStart(12, '0')}`
    present.set(name, id)
    return id
  }
  return {
    /** The keys that an event of this subject is sealed with. Makes those that do not exist. */
    sealed(event: RecordedDomainEvent, subject: Subject | null): SealedKeys {
      const own = subject === null ? [] : [subject.name]
      const guest = subject === null || subject.guest === null ? [] : [subject.guest]
      const names: Readonly<Record<SealedPart, readonly string[]>> = {
        personal: own,
        guest: [...own, ...guest],
        body: [...own, 'body:2026-03-01'],
        secret: [...own, secretBucket],
      }
      return Object.fromEntries(domainCodec.partsOf(event).map((part) => [part, names[part].map(idOf)]))
    },
    /** The next event of this name has another key. @returns the id of the key, if there was one */
    destroy(name: string): string | undefined {
      const id = present.get(name)
      present.delete(name)
      return id
    },
  }
}

const metadata = { correlationId: 'c', causationId: 'c', actor: 'worker' }
const key = createSecretKey(Buffer.alloc(32, 7))

/** The event as it is read when these keys are destroyed. */
export function withoutKeys(event: LoggedEvent, destroyed: ReadonlySet<string>): LoggedEvent {
  const { id, revision, position, sealed, ...recorded } = event
  if (!Object.values(sealed).some((ids) => ids.some((keyId) => destroyed.has(keyId)))) return event
  const stream = `stream-${id}`
  const keysOf = (part: SealedPart) => (sealed[part] ?? []).map((keyId) => ({ id: keyId, key }))
  const { data, metadata: stored } = domainCodec.encode(recorded, id, metadata, { stream, keysOf })
  const decoded = domainCodec.decode(
    {
      ...{ id, stream, revision, position, type: event.type, created: new Date(0), contentType: 'application/json' },
      data: Buffer.from(JSON.stringify(data)),
      metadata: Buffer.from(JSON.stringify(stored)),
    },
    (keyId) => (destroyed.has(keyId) ? null : key),
  )
  return { ...decoded, id, position }
}
