// Receives notifications from other processes through Postgres.

import { anySignal } from '../anySignal.ts'
import { keepRunning } from '../process/keepRunning.ts'
import type { Logger } from '../telemetry/log.ts'
import { shareSession } from './sharedSession.ts'

const pauseMs = 1_000

/**
 * Listens on a channel until the signal aborts, and reconnects when the session is lost. Notifications in
 * between are lost, so callers must not depend on them.
 * @param options `onNotification` gets the payload of each notification
 */
export async function listen(options: {
  readonly databaseUrl: string
  readonly channel: string
  readonly onNotification: (payload: string) => void
  readonly signal: AbortSignal
  readonly log: Logger
}): Promise<void> {
  const { channel, signal, log } = options
  await keepRunning(() => listenOnce(options), {
    signal,
    pauseMs,
    onError: (error) =>
      log.warn({ err: error, channel, pauseMs }, 'listening on a database channel failed, trying again'),
  })
}

async function listenOnce({
  databaseUrl,
  channel,
  onNotification,
  signal,
}: Parameters<typeof listen>[0]): Promise<void> {
  const session = await shareSession(databaseUrl)
  try {
    await session.listen(channel, onNotification)
    await aborted(anySignal(signal, session.lost))
    if (!signal.aborted) throw session.lost.reason
  } finally {
    await session.leave()
  }
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
