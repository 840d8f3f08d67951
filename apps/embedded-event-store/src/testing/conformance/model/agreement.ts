// Compares the results of a server and the model.
import { checkpointText, type Line } from './lines.ts'
import { pair, type Session } from './session.ts'
import type { Store } from './store.ts'

/** The results of the server and the model differ. */
export class DisagreementError extends Error {
  override readonly name = 'DisagreementError'
}

/** @throws DisagreementError when the texts differ, or the positions cannot belong together */
export function agree(
  store: Store,
  session: Session,
  model: readonly Line<number>[],
  server: readonly Line<bigint>[],
): void {
  const expected = model.map(({ text }) => text).join('\n  ')
  const found = server.map(({ text }) => text).join('\n  ')
  if (expected !== found)
    throw new DisagreementError(`expected from the model\n  ${expected}\ngot from the server\n  ${found}`)
  for (const [index, { text, at }] of model.entries()) {
    const places = server[index]?.at ?? []
    if (places.length !== at.length) throw new DisagreementError(`${text} has ${places.length} positions`)
    try {
      for (const [part, place] of places.entries()) {
        const position = at[part] ?? -1
        if (text !== checkpointText || !isNextEvent(store, session, position, place)) pair(session, position, place)
      }
    } catch (error) {
      throw new DisagreementError(`${text}: ${String(error)}`, { cause: error })
    }
  }
}

/** A checkpoint at a record without an event, which readers cannot see, equals one at the next record with an event. */
function isNextEvent({ log }: Store, { positions }: Session, record: number, server: bigint): boolean {
  const next = log.find(({ position }) => position >= record)
  return next !== undefined && positions.get(next.position) === server
}

export function withoutCheckpoints<Position>(lines: readonly Line<Position>[]): Line<Position>[] {
  return lines.filter(({ text }) => text !== checkpointText)
}

/** Every checkpoint must be after the events sent before it, and before those sent after it. */
export function agreeButForCheckpoints(
  store: Store,
  session: Session,
  model: readonly Line<number>[],
  server: readonly Line<bigint>[],
): void {
  agree(store, session, withoutCheckpoints(model), withoutCheckpoints(server))
  let reached = -1n
  let checkpointed = -1n
  for (const { text, at } of server) {
    const [position] = at
    if (position === undefined) continue
    const isCheckpoint = text === checkpointText
    if (position < reached || position <= (isCheckpoint ? checkpointed : reached)) {
      throw new DisagreementError(`${text} at ${position} came after ${reached}`)
    }
    reached = position
    if (isCheckpoint) checkpointed = position
  }
}
