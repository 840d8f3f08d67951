// `streams verify-export`: checks an export against its manifest, its checkpoint and the log.
import { type Compared, causeText, compareExport } from '@paylog/event-store/export/compareExport'
import { type Difference, differenceText } from '@paylog/event-store/export/difference'
import { readExportPage } from '@paylog/event-store/export/exportPage'
import type { FetchPage } from '@paylog/event-store/export/exportPages'
import { filtersText } from '@paylog/event-store/export/filters'
import type { Manifest } from '@paylog/event-store/export/manifest'
import { readVerifiers, verifierOption } from '../audit/verifier.ts'
import { exitDifferent, OpsError } from '../command.ts'
import { defineCommand } from '../defineCommand.ts'
import { flag } from '../options.ts'
import { logProgress } from '../progressLine.ts'
import { counted, visible } from '../texts.ts'
import { chunksOf, createSha256, readManifestOf } from './exportFile.ts'
import { createProver, type ExportProof } from './exportProof.ts'

/** `checkpoint`: the lines are not those that the checkpoint of the manifest signed, or it is none. */
export type ExportDifference = Difference | { readonly kind: 'checkpoint'; readonly reason: string }

type ExportVerdict = Omit<Compared, 'difference'> & {
  readonly difference: ExportDifference | undefined
  readonly proof: ExportProof
}

export const streamsVerifyExport = defineCommand({
  summary: 'Check an export against its manifest, its checkpoint and the log',
  args: ['FILE'],
  options: {
    ...verifierOption,
    offline: flag('does not read the log: an export of the whole log proves itself by its checkpoint'),
  },
  json: 'one object: whether the export is valid, its first difference, and what its checkpoint proves',
  about: [
    'Exports the part of the log that FILE.manifest.json names again, with the same filters, and compares line by line up to',
    'the first difference, which is named. The end of an export without --until is only in the manifest, so that the output',
    'also shows how far the log has grown since.',
    '',
    'Without filters (--until counts as none), the tree of the log is recomputed from the lines alone and compared with the signed',
    'checkpoint in the manifest. Events after a smaller checkpoint, and exports with filters, are compared with the log only.',
    '',
    'Exits with 0 when everything matches, with 3 when something differs, and with 1 when it could not be checked.',
  ],
  onInterrupt: 'Interrupted before the whole export was checked.',
  async run({ args: [path], options, environment, open, progress, signal }) {
    const manifest = readManifestOf(path)
    const prover = createProver(manifest, readVerifiers(options.key, environment))
    const log = options.offline ? undefined : await open.rawLog(signal)
    const fetchPage: FetchPage | undefined = log && ((page) => readExportPage(log, page, Number.POSITIVE_INFINITY))
    const { difference: found, ...compared } = await compareExport({
      manifest,
      content: chunksOf(path),
      hash: createSha256(),
      fetchPage,
      signal,
      onLine: prover.add,
      onProgress: (state) => progress.show(logProgress('Comparing', state)),
    })
    const proof = prover.conclude()
    const { events, limit, problem } = proof
    if (log === undefined && events === 0 && limit !== null)
      throw new OpsError(`${path} does not prove itself: ${limit}.`)
    const difference = found ?? (problem === null ? undefined : { kind: 'checkpoint' as const, reason: problem })
    const verdict = { ...compared, difference, proof }
    return {
      json: verdictJson(path, manifest, verdict),
      text: verdictText(path, manifest, verdict),
      problem: difference && `${path} does not match.`,
      exitCode: exitDifferent,
    }
  },
})

function verdictJson(file: string, { filters, count, head }: Manifest, verdict: ExportVerdict) {
  const { difference, isAsManifest, logEnd = null, proof } = verdict
  return {
    file,
    equal: difference === undefined,
    file_is_as_manifest: isAsManifest,
    filters,
    count,
    head,
    log_end: logEnd,
    checkpoint: proof.checkpoint,
    proven: proof.events,
    differences: difference === undefined ? 0 : 1,
    listed: difference === undefined ? [] : [difference],
  }
}

function verdictText(path: string, manifest: Manifest, { difference, proof, ...compared }: ExportVerdict): string {
  const { count, first_position, last_position, head, filters } = manifest
  const { logEnd } = compared
  const found = difference?.kind === 'checkpoint' ? undefined : difference
  const events = counted(count, 'event')
  const range = count === 0 ? '' : `, positions ${first_position} to ${last_position}`
  const covered = head === null ? 'the log has no events in that part' : `the log was compared up to position ${head}`
  const same =
    logEnd === undefined
      ? `${path} matches its manifest: ${events}${range}; the log was not read.`
      : `${path} matches its manifest and the log: ${events}${range}; ${covered}.`
  const isSame = found === undefined && logEnd !== undefined
  // Without `until`, the end of the export is only in the manifest, and only its reader can judge it.
  const hasGrown = filters.until === null && typeof logEnd === 'string' && BigInt(logEnd) > BigInt(head ?? -1)
  return [
    ...(found === undefined ? [] : [`${differenceText(found)}.`]),
    ...(difference === undefined ? [same, `It contains ${filtersText(filters)}.`] : []),
    proofText(proof),
    ...(difference === undefined ? [] : [isSame ? signedOther : causeText({ ...compared, difference: found })]),
    ...(hasGrown
      ? [
          `The log has grown since, up to position ${logEnd}: events after ${head === null ? 'its start' : `position ${head}`} were not compared.`,
        ]
      : []),
  ]
    .map(visible)
    .join('\n')
}

const signedOther = 'The file matches its manifest and the log: all of them were changed, or the checkpoint was.'

/** What the checkpoint proves. */
function proofText({ checkpoint, events, limit, problem }: ExportProof): string {
  if (problem !== null) return `checkpoint: ${problem}.`
  const signed =
    checkpoint && `the checkpoint of ${checkpoint.origin} over the first ${checkpoint.size} events of the log`
  if (signed === null) return `It does not prove itself: ${limit}.`
  if (events === 0) return `Its signature is right: ${signed} covers it. It does not prove itself: ${limit}.`
  if (limit === null) return `It proves itself: its lines are those that ${signed} signed.`
  return `Its first ${events} events prove themselves: they are those that ${signed} signed; ${limit}.`
}
