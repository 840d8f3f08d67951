// `projections verify`: whether the rows that queries see are what the log says.
import { type CliCommand, OpsError } from '../command.ts'
import { replayEach } from './replayEach.ts'
import { maxInJson, maxInText, verifiedJson, verifiedText, verifyOne } from './verifyOne.ts'

const exitDifferent = 3

export const projectionsVerify: CliCommand = {
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
  run(args, context) {
    const different: string[] = []
    return replayEach(args, context, {
      async replay(options, say) {
        const verified = await verifyOne({ ...options, say })
        if (verified.differing > 0) different.push(verified.projection.name)
        return { text: verifiedText(verified), json: verifiedJson(verified) }
      },
      summary: (failed) => ({ equal: failed.length === 0 && different.length === 0 }),
      async problem(failed) {
        const lines = failed.map(({ projection, reason }) => `${projection} was not checked: ${reason}.`)
        if (different.length > 0)
          lines.push(`Rows differ. To mend them: npm run -s ops -- projections rebuild ${different.join(' ')}`)
        if (lines.length === 0) return undefined
        return new OpsError(lines.join('\n'), { exitCode: failed.length === 0 ? exitDifferent : 1 })
      },
    })
  },
}
