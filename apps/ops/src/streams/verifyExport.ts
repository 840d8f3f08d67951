// `streams verify-export`: checks an export against its manifest and the log.
import type { RawClient } from '@paylog/event-store/connection/calls'
import { compareExport, summaryFindings } from '@paylog/event-store/export/compareExport'
import { readExport } from '@paylog/event-store/export/exportedLines'
import { readExportPage } from '@paylog/event-store/export/exportPage'
import type { Manifest } from '@paylog/event-store/export/manifest'
import { readVerifiers, verifierOption } from '../audit/verifier.ts'
import { OpsError } from '../command.ts'
import { defineCommand } from '../defineCommand.ts'
import { flag } from '../options.ts'
import { logProgress, type ProgressLine } from '../progressLine.ts'
import {
  differenceOf,
  type ExportDifference,
  type ExportVerdict,
  explainExtra,
  verdictJson,
  verdictText,
} from './exportDifference.ts'
import { createProver, type ExportProof, type ExportProver } from './exportProof.ts'
import { chunksOf, createSha256, readManifestOf } from './openExport.ts'

/** Differences that are printed. The others are counted. */
const maxListed = 100
const exitDifferent = 3
/** Lines without an event that are looked up even if not printed, to find out whether this is the right log. */
const minLookedUp = 10

export const streamsVerifyExport = defineCommand({
  summary: 'Check an export against its manifest, its checkpoint and the log',
  args: ['FILE'],
  options: {
    ...verifierOption,
    offline: flag('does not read the log: an export of the whole log proves itself by its checkpoint'),
  },
  json: 'one object: whether the export is valid, its differences, and what its checkpoint proves',
  about: [
    'Reads the part of the log that FILE.manifest.json names again, with the same filters, and compares line by line.',
    `Up to ${maxListed} differences are listed: changed, missing, extra and misplaced lines. The end of an export without`,
    '--until is only in the manifest, so that the output also shows how far the log has grown since.',
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
    const verification = { path, manifest, prover, progress, signal }
    const verdict = options.offline
      ? await verifyOffline(verification)
      : await verify(await open.rawLog(signal), verification)
    return {
      json: verdictJson(path, manifest, verdict),
      text: verdictText(path, manifest, verdict),
      problem: problemOf(path, verdict),
      exitCode: exitDifferent,
    }
  },
})

function problemOf(path: string, { differences }: ExportVerdict): string | undefined {
  if (differences === 0) return undefined
  return `${path} does not match: ${differences === 1 ? '1 difference' : `${differences} differences`}.`
}

type Verification = {
  readonly path: string
  readonly manifest: Manifest
  readonly prover: ExportProver
  readonly progress: ProgressLine
  readonly signal: AbortSignal
}

/** @throws OpsError when the checkpoint does not prove any line */
async function verifyOffline({ path, manifest, prover, signal }: Verification): Promise<ExportVerdict> {
  const differences = createDifferences()
  const file = readExport(chunksOf(path), createSha256())
  for await (const line of file.lines(signal)) prover.add(line)
  const differing = summaryFindings(manifest, file.summary())
  for (const finding of differing) differences.note(() => finding)
  const proof = noteProof(differences, prover)
  if (proof.events === 0 && proof.limit !== null) throw new OpsError(`${path} does not prove itself: ${proof.limit}.`)
  const isAsManifest = differing.length === 0
  return { ...differences.found(), isOfAnotherLog: false, isAsManifest, logEnd: undefined, proof }
}

async function verify(log: RawClient, verification: Verification): Promise<ExportVerdict> {
  const { path, manifest, prover, progress, signal } = verification
  const differences = createDifferences()
  let [known, unknown] = [0, 0]
  const { events, logEnd, isAsManifest } = await compareExport({
    manifest,
    content: chunksOf(path),
    hash: createSha256(),
    fetchPage: (request) => readExportPage(log, request, Number.POSITIVE_INFINITY),
    signal,
    onLine: prover.add,
    onProgress: (state) => progress.show(logProgress('Comparing', state)),
    async onFinding(finding) {
      if (finding.kind !== 'extra') return differences.note(() => differenceOf(finding))
      // Only printed differences are explained, because an explanation costs calls to the server.
      if (differences.isFull() && known + unknown >= minLookedUp) return differences.count()
      const difference = await explainExtra(log, finding.line, manifest)
      if (difference.in_log) known++
      else unknown++
      differences.note(() => difference)
    },
  })
  const proof = noteProof(differences, prover)
  const isOfAnotherLog = unknown > 0 && known + events === 0
  return { ...differences.found(), isOfAnotherLog, isAsManifest, logEnd, proof }
}

function noteProof(differences: Differences, prover: ExportProver): ExportProof {
  const proof = prover.conclude()
  const { problem } = proof
  if (problem !== null) differences.note(() => ({ kind: 'checkpoint', reason: problem }))
  return proof
}

type Differences = ReturnType<typeof createDifferences>

function createDifferences() {
  const shownDifferences: ExportDifference[] = []
  let differences = 0
  return {
    isFull: () => shownDifferences.length >= maxListed,
    /** Counts a difference that is not printed. */
    count(): void {
      differences++
    },
    note(describe: () => ExportDifference): void {
      differences++
      if (shownDifferences.length < maxListed) shownDifferences.push(describe())
    },
    found: () => ({ differences, shownDifferences }),
  }
}
