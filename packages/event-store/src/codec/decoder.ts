// Decodes recorded events with the keys of their sealed parts.
import type { RawEvent } from '../read/rawEvent.ts'
import { type Codec, parsedJson, type Recorded, UnreadableEventError } from './codec.ts'
import type { DataKeys } from './dataKeys.ts'
import { KeysNeededError, keyIdsIn } from './sealing.ts'
import { nameOf } from './shapes.ts'

/** What decodes recorded events: a codec, with the keys of their sealed parts. */
export type Decoder = {
  /**
   * Decodes events, with the error in the place of one that this program cannot read.
   * @param opens the event types whose sealed fields are needed, by default all; those of others are null, which takes less time
   * @throws DomainError `service_unavailable` when keys cannot be loaded
   */
  decode(
    events: readonly RawEvent[],
    opens?: ReadonlySet<string>,
  ): Promise<readonly (Recorded | UnreadableEventError)[]>
}

export function createDecoder(codec: Pick<Codec, 'decode'>, keys: Pick<DataKeys, 'known' | 'load'>): Decoder {
  return {
    async decode(events, opens) {
      const isOpened = ({ type }: RawEvent) => opens?.has(nameOf(type)) ?? true
      const parsed = events.map((event) => ({ event, data: parsedJson(event.data), isOpened: isOpened(event) }))
      const decoded: (Recorded | UnreadableEventError)[] = []
      let loadedFor = -1
      while (decoded.length < events.length) {
        try {
          for (const { event, data, isOpened } of parsed.slice(decoded.length))
            decoded.push(tryDecode(codec, event, isOpened ? keys.known : undefined, data))
        } catch (error) {
          if (!(error instanceof KeysNeededError) || loadedFor === decoded.length) throw error
          // Most keys are loaded already, so the ids are looked for only when one is missing.
          loadedFor = decoded.length
          const others = parsed.slice(loadedFor).filter(({ isOpened }) => isOpened)
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
  known: DataKeys['known'] = () => null,
  data?: unknown,
): Recorded | UnreadableEventError {
  try {
    return codec.decode(event, known, data)
  } catch (error) {
    if (error instanceof UnreadableEventError) return error
    throw error
  }
}
