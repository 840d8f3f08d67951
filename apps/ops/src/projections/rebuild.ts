// `projections rebuild`: makes the rows of projections again from the log, and lets them take the place of the live ones.
import { type CliCommand, OpsError } from '../command.ts'
import { failureText, maxShown, rebuildOne, rebuiltJson, rebuiltText } from './rebuildOne.ts'
import { replayEach } from './replayEach.ts'

export const projectionsRebuild: CliCommand = {
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
  run: (args, context) =>
    replayEach(args, context, {
      async replay(options) {
        const rebuilt = await rebuildOne(options)
        return { text: rebuiltText(rebuilt), json: rebuiltJson(rebuilt) }
      },
      async problem(failed, pool) {
        return failed.length === 0 ? undefined : new OpsError(await failureText(pool, failed))
      },
    }),
}
