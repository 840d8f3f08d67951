// `projections verify`: whether the rows that queries see are what the log says.

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
import { createReplayProgress } from './replayProgress.ts'
import { maxInJson, maxInText, verifiedJson, verifiedText, verifyOne } from './verifyOne.ts'

const Config = Type.Object({
  DATABASE_URL: url(['postgres', 'postgresql']),
  EVENTSTORE_URL: url(['esdb', 'esdb+discover']),
})
const exitDifferent = 3

export const projectionsVerify: Command = {
  usage: 'NAME… | --all [--json]',
  summary: 'Replay the log beside the live rows of projections, and show every row that differs',
  details: [
    'The log is replayed into a table of its own, up to where the projection stands, and both are compared as of one moment;',
    'everything goes on meanwhile. Each row that is missing, extra or different is shown with what is found and expected;',
    `after ${maxInText} of a projection they are only counted. \`projections rebuild\` mends them.`,
    '',
    `  --json  one object: projections, each with all counts and up to ${maxInJson} differences`,
    '',
    'Exits with 0 when all rows are what the log says, with 3 when rows differ, and with 1 when something could not be',
    'checked, whatever was found in the rest.',
  ].join('\n'),
  async run(args, { environment, print, errors }) {
    const { values, positionals } = readList(args, { all: { type: 'boolean' }, json: { type: 'boolean' } })
    const chosen = chosenProjections(positionals, values.all === true)
    const config = loadConfig(Config, environment)
    const progress = createReplayProgress(errors)
    const { say, conclude } = reportBeside(progress, print)
    const store = createEventStore({ connectionString: config.EVENTSTORE_URL })
    const different: string[] = []
    try {
      const { all, failed } = await withReadModels(config.DATABASE_URL, errors, (readModels) =>
        withInterrupt(errors, (signal) =>
          inTurn(chosen, signal, async (projection) => {
            const verified = await verifyOne({
              ...readModels,
              store,
              projection,
              signal,
              onProgress: progress.show,
              say: values.json ? undefined : say,
            })
            progress.end()
            if (verified.differing > 0) different.push(projection.name)
            if (!values.json) await say(verifiedText(verified))
            return verifiedJson(verified)
          }),
        ),
      )
      progress.end()
      const complete = failed.length === 0
      const equal = complete && different.length === 0
      if (values.json) await conclude(JSON.stringify({ complete, equal, projections: all }))
      if (equal) return
      const unchecked = failed.map(({ projection, reason }) => `${projection} was not checked: ${reason}.`)
      const mend =
        different.length === 0
          ? []
          : [`Rows differ. To mend them: npm run -s ops -- projections rebuild ${different.join(' ')}`]
      throw new OpsError([...unchecked, ...mend].join('\n'), { exitCode: complete ? exitDifferent : 1 })
    } finally {
      progress.end()
      await store.close()
    }
  },
}
