// What `projections rebuild` and `projections verify` have in common: the log is replayed for one projection after another.
import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import { createEventStore, type EventStore } from '@paylog/event-store/eventStore'
import type { Projection } from '@paylog/projections/projection'
import { Type } from 'typebox'
import { type CommandContext, type OpsError, readList } from '../command.ts'
import type { Pool } from '../opsPool.ts'
import type { Print } from '../printTo.ts'
import { createReportWriter } from '../progress.ts'
import { withInterrupt } from '../withInterrupt.ts'
import { type FailedProjection, forEachProjection } from './inTurn.ts'
import { chosenProjections } from './named.ts'
import { type ReadModels, withReadModels } from './readModels.ts'
import { createReplayProgress, type ReplayProgress } from './replayProgress.ts'

const Config = Type.Object({
  DATABASE_URL: url(['postgres', 'postgresql']),
  EVENTSTORE_URL: url(['esdb', 'esdb+discover']),
})

export type ReplayOptions = ReadModels & {
  readonly store: EventStore
  readonly projection: Projection
  readonly signal: AbortSignal
  readonly onProgress: (progress: ReplayProgress) => void
}

type ReplayWork = {
  /**
   * Replays for one projection. @returns what is said of it to people and to machines
   * @param say where something can be said before the end; with `--json` there is no such place
   */
  readonly replay: (
    replay: ReplayOptions,
    say: Print | undefined,
  ) => Promise<{ readonly text: string; readonly json: object }>
  /** What the JSON says of all of them together. */
  readonly summary?: (failed: readonly FailedProjection[]) => object
  /** With what the command fails when all are over, if it does. */
  readonly problem: (failed: readonly FailedProjection[], pool: Pool) => Promise<OpsError | undefined>
}

/** @param args `NAME… | --all [--json]` @throws OpsError, UsageError */
export async function replayEach(
  args: readonly string[],
  { environment, print, errors }: CommandContext,
  { replay, summary, problem }: ReplayWork,
): Promise<void> {
  const { values, positionals } = readList(args, { all: { type: 'boolean' }, json: { type: 'boolean' } })
  const chosen = chosenProjections(positionals, values.all === true)
  const config = loadConfig(Config, environment)
  const progress = createReplayProgress(errors)
  const { say, conclude } = createReportWriter(progress, print)
  const store = createEventStore({ connectionString: config.EVENTSTORE_URL })
  try {
    await withReadModels(config.DATABASE_URL, errors, async (readModels) => {
      const { all, failed } = await withInterrupt(errors, (signal) =>
        forEachProjection(chosen, signal, async (projection) => {
          const options = { ...readModels, store, projection, signal, onProgress: progress.show }
          const { text, json } = await replay(options, values.json ? undefined : say)
          progress.end()
          if (!values.json) await say(text)
          return json
        }),
      )
      progress.end()
      if (values.json)
        await conclude(JSON.stringify({ complete: failed.length === 0, ...summary?.(failed), projections: all }))
      const failure = await problem(failed, readModels.pool)
      if (failure !== undefined) throw failure
    })
  } finally {
    progress.end()
    await store.close()
  }
}
