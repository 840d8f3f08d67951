// `projections rebuild`: makes the rows of projections again from the log, and lets them take the place of the live ones.

import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import { createEventStore } from '@paylog/event-store/eventStore'
import { Type } from 'typebox'
import { type Command, OpsError, readList } from '../command.ts'
import { reportBeside } from '../progress.ts'
import { withInterrupt } from '../withInterrupt.ts'
import { inTurn } from './inTurn.ts'
import { chosenProjections } from './named.ts'
import { withReadModels } from './readModels.ts'
import { failureText, maxShown, rebuildOne, rebuiltJson, rebuiltText } from './rebuildOne.ts'
import { createReplayProgress } from './replayProgress.ts'

const Config = Type.Object({
  DATABASE_URL: url(['postgres', 'postgresql']),
  EVENTSTORE_URL: url(['esdb', 'esdb+discover']),
})

export const projectionsRebuild: Command = {
  usage: 'NAME… | --all [--json]',
  summary: 'Make the rows of projections again from the log, while everything runs',
  details: [
    'A new table is filled from the log beside the live one, and takes its place in one moment: until then queries see the',
    'rows as they are, and no stop of any program is needed. Before that both are compared at the same position of the log;',
    `rows of the old table that were not what the log says are counted, and the first ${maxShown} are shown. The old table is`,
    'kept until `projections prune`.',
    '',
    'It may be interrupted and repeated at any time: nothing has changed then, and what was left unfinished is dropped. Of',
    'several projections those that are done stay done.',
    '',
    '  --json  one object: projections, each with its outcome',
    '',
    'Exits with 0 when all were rebuilt, whether rows had differed or not, and with 1 otherwise.',
  ].join('\n'),
  async run(args, { environment, print, errors }) {
    const { values, positionals } = readList(args, { all: { type: 'boolean' }, json: { type: 'boolean' } })
    const chosen = chosenProjections(positionals, values.all === true)
    const config = loadConfig(Config, environment)
    const progress = createReplayProgress(errors)
    const { say, conclude } = reportBeside(progress, print)
    const store = createEventStore({ connectionString: config.EVENTSTORE_URL })
    try {
      await withReadModels(config.DATABASE_URL, errors, async (readModels) => {
        const { all, failed } = await withInterrupt(errors, (signal) =>
          inTurn(chosen, signal, async (projection) => {
            const rebuilt = await rebuildOne({ ...readModels, store, projection, signal, onProgress: progress.show })
            progress.end()
            if (!values.json) await say(rebuiltText(rebuilt))
            return rebuiltJson(rebuilt)
          }),
        )
        progress.end()
        if (values.json) await conclude(JSON.stringify({ complete: failed.length === 0, projections: all }))
        if (failed.length > 0) throw new OpsError(await failureText(readModels.pool, failed))
      })
    } finally {
      progress.end()
      await store.close()
    }
  },
}
