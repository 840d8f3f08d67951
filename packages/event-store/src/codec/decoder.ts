// Decodes recorded events with the keys of their sealed parts.
import { type SealedPart, sealedParts } from '@paylog/domain/personalData'
import type { RawEvent } from '../read/rawEvent.ts'
import { type Codec, parsedJson, type Recorded, UnreadableEventError } from './codec.ts'
import type { DataKeys } from './dataKeys.ts'
import { KeysNeededError, type KnownKeys, keyIdsIn } from './sealing.ts'
import { nameOf } from './shapes.ts'

/** The sealed parts that a reader needs, by event type. The fields of others are null, which takes less time. */
export type NeededParts = ReadonlyMap<string, readonly SealedPart[]>

/** What decodes recorded events: a codec, with the keys of their sealed parts. */
export type Decoder = {
  /**
   * Decodes events, with the error in the place of one that this program cannot read.
   * @param opens by default everything
   * @throws DomainError `service_unavailable` when keys cannot be loaded
   */
  decode(events: readonly RawEvent[], opens?: NeededParts): Promise<readonly (Recorded | UnreadableEventError)[]>
}

export function createDecoder(codec: Pick<Codec, 'decode'>, keys: Pick<DataKeys, 'known' | 'load'>): Decoder {
  return {
    async decode(events, opens) {
      const parsed = events.map((event) => {
        const parts = opens === undefined ? sealedParts : opens.get(nameOf(event.type))
        return { event, data: parsedJson(event.data), parts }
      })
      const decoded: (Recorded | UnreadableEventError)[] = []
      let loadedFor = -1
      while (decoded.length < events.length) {
        try {
          for (const { event, data, parts } of parsed.slice(decoded.length)) {
            const known: KnownKeys = (id, part) => (parts?.includes(part) ? keys.known(id) : null)
            decoded.push(tryDecode(codec, event, known, data))
          }
        } catch (error) {
          if (!(error instanceof KeysNeededError) || loadedFor === decoded.length) throw error
          // Most keys are loaded already, so the ids are looked for only when one is missing.
          loadedFor = decoded.length
          const others = parsed.slice(loadedFor).filter(({ parts }) => parts !== undefined)
          await keys.load([...new Set(others.flatMap(({ data }) => keyIdsIn(data)))])
        }
      }
      return decoded
    },
  }
}

/** @throws UnreadableEventError the first one, if any */
export function requireReadable(decoded: readonly (Recorded | UnreadableEventError)[]): readonly Recorded[] {
  return decoded.map((event) => {
    if (event instanceof UnreadableEventError) throw event
    return event
  })
}

/**
 * Decodes an event, with the error in the place of one that this program cannot read.
 * @param known by default no key, so that sealed fields are null
 * @param data its data, parsed
 * @throws KeysNeededError
 */
export function tryDecode(
  codec: Pick<Codec, 'decode'>,
  event: RawEvent,
  known: KnownKeys = () => null,
  data?: unknown,
): Recorded | UnreadableEventError {
  try {
    return codec.decode(event, known, data)
  } catch (error) {
    if (error instanceof UnreadableEventError) return error
    throw error
  }
}
