// `streams verify-export`: checks an export against its manifest and the log.
import type { LogPosition } from '@paylog/domain/events'
import type { RawClient } from '@paylog/event-store/connection/calls'
import { isSame } from '@paylog/event-store/export/bytes'
import type { ExportedLine, ExportSummary } from '@paylog/event-store/export/exportedLines'
import { exportLine } from '@paylog/event-store/export/exportLine'
import { lineInFormat } from '@paylog/event-store/export/lineFormat'
import { fileOf, type Manifest } from '@paylog/event-store/export/manifest'
import { createOrder, type LineOrder, type LogLine, pair } from '@paylog/event-store/export/pairing'
import { type ExportSelection, readExportHead, readSelected } from '@paylog/event-store/export/selection'
import type { RawEvent } from '@paylog/event-store/read/rawEvent'
import { readLogEnd } from '@paylog/event-store/read/reads'
import { keyHelp, keyOption, readVerifier } from '../audit/verifier.ts'
import { type CliCommand, OpsError, readArguments } from '../command.ts'
import { type CliProgress, createReportWriter } from '../progress.ts'
import { createExportProgress, type ExportProgress } from './export.ts'
import {
  changedFields,
  type ExportDifference,
  type ExportVerdict,
  explainExtra,
  nameOf,
  verdictJson,
  verdictText,
} from './exportDifference.ts'
import { isManifest, readManifest, selectionOf } from './exportManifest.ts'
import { createProver, type ExportProof, type ExportProver } from './exportProof.ts'
import { openRawLog, untilInterrupted } from './exportSelection.ts'
import { openExport, requireReadable } from './openExport.ts'

type RecordedLine = LogLine & { readonly event: RawEvent }

/** Differences that are printed. The others are counted. */
const maxListed = 100
const exitDifferent = 3
/** Lines without an event that are looked up even if not printed, to find out whether this is the right log. */
const minLookedUp = 10

export const streamsVerifyExport: CliCommand = {
  usage: 'FILE [--key KEY] [--offline] [--json]',
  summary: 'Check an export against its manifest, its checkpoint and the log',
  details: [
    keyHelp,
    '  --offline   does not read the log: an export of the whole log proves itself by its checkpoint',
    '  --json      one object: whether the export is valid, its differences, and what its checkpoint proves',
    '',
    'Reads the part of the log that FILE.manifest.json names again, with the same filters, and compares line by line.',
    `Up to ${maxListed} differences are listed: changed, missing, extra and misplaced lines. The end of an export without`,
    '--until is only in the manifest, so that the output also shows how far the log has grown since.',
    '',
    'Without filters (--until counts as none), the tree of the log is recomputed from the lines alone and compared with the signed',
    'checkpoint in the manifest. Events after a smaller checkpoint, and exports with filters, are compared with the log only.',
    '',
    'Exits with 0 when everything matches, with 3 when something differs, and with 1 when it could not be checked.',
  ].join('\n'),
  async run(args, { environment, print, errors }) {
    const options = { ...keyOption, offline: { type: 'boolean' }, json: { type: 'boolean' } } as const
    const { values, positionals } = readArguments(args, ['FILE'], options)
    const [path] = positionals
    const manifest = manifestOfExport(path)
    const prover = createProver(manifest, readVerifier(values.key, environment))
    const progress = createExportProgress(errors)
    const { conclude } = createReportWriter(progress, print)
    const interrupted = 'Interrupted before the whole export was checked.'
    try {
      const log = values.offline ? undefined : openRawLog(environment)
      const verdict =
        log === undefined
          ? await verifyOffline({ path, manifest, prover })
          : await untilInterrupted({ log, errors }, interrupted, (signal) =>
              verify(log, { path, manifest, prover, progress, signal }),
            )
      const { differences } = verdict
      await conclude((values.json ? verdictJson : verdictText)(path, manifest, verdict))
      if (differences === 0) return
      const many = differences === 1 ? '1 difference' : `${differences} differences`
      throw new OpsError(`${path} does not match: ${many}.`, { exitCode: exitDifferent })
    } finally {
      progress.end()
    }
  },
}

/** @throws OpsError when the file or its manifest cannot be read */
function manifestOfExport(path: string): Manifest {
  requireReadable(path)
  const file = fileOf(path)
  if (file !== undefined && isManifest(path)) {
    throw new OpsError(`${path} is the manifest of an export: name the export itself, ${file}`)
  }
  return readManifest(path)
}

type Verification = {
  readonly path: string
  readonly manifest: Manifest
  readonly prover: ExportProver
  readonly progress: CliProgress<ExportProgress>
  readonly signal: AbortSignal
}

/** @throws OpsError when the checkpoint does not prove any line */
async function verifyOffline({
  path,
  manifest,
  prover,
}: Pick<Verification, 'path' | 'manifest' | 'prover'>): Promise<ExportVerdict> {
  const differences = createDifferences()
  const file = openExport(path)
  for await (const line of file.lines(new AbortController().signal)) prover.add(line)
  const isAsManifest = noteSummary(differences, manifest, file.summary())
  const proof = noteProof(differences, prover)
  if (proof.events === 0 && proof.limit !== null) throw new OpsError(`${path} does not prove itself: ${proof.limit}.`)
  return { ...differences.found(), isOfAnotherLog: false, isAsManifest, logEnd: undefined, proof }
}

async function verify(log: RawClient, verification: Verification): Promise<ExportVerdict> {
  const { path, manifest, prover, progress, signal } = verification
  const differences = createDifferences()
  const selection = selectionOf(manifest)
  const head = manifest.head === null ? undefined : positionAt(manifest.head)
  const end = (await readLogEnd(log))?.position
  const extent = await extentDifference(log, { selection, head, end })
  if (extent !== undefined) differences.note(() => extent)
  const file = openExport(path)
  const order = createOrder()
  let paired = 0
  let [known, unknown] = [0, 0]
  const show = (position: LogPosition) =>
    progress.show({ phase: 'comparing', events: paired, position: position.commit, head: head?.commit ?? 0n })
  const recorded = logLines(log, { selection, head, format: manifest.format }, show)
  await pair(proving(prover, file.lines(signal)), recorded, {
    async paired(line, expected) {
      paired++
      notePair(differences, line, expected, order)
    },
    missing: async ({ event }) => differences.note(() => ({ kind: 'missing', event: nameOf(event) })),
    async extra(line) {
      // Only printed differences are explained, because an explanation costs calls to the server.
      if (differences.isFull() && known + unknown >= minLookedUp) return differences.count()
      const difference = await explainExtra(log, line, { selection, head })
      if (difference.in_log) known++
      else unknown++
      differences.note(() => difference)
    },
  })
  if (head !== undefined) show(head)
  const isAsManifest = noteSummary(differences, manifest, file.summary())
  const proof = noteProof(differences, prover)
  const isOfAnotherLog = unknown > 0 && known + paired === 0
  return { ...differences.found(), isOfAnotherLog, isAsManifest, logEnd: asText(end?.commit ?? null), proof }
}

async function* proving(
  prover: ExportProver,
  lines: AsyncGenerator<ExportedLine, void>,
): AsyncGenerator<ExportedLine, void> {
  for await (const line of lines) {
    prover.add(line)
    yield line
  }
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

type Extent = {
  readonly selection: ExportSelection
  readonly head: LogPosition | undefined
  readonly end: LogPosition | undefined
}

/** Whether the part of the log that the manifest covers fits this log. */
async function extentDifference(
  log: RawClient,
  { selection, head, end }: Extent,
): Promise<ExportDifference | undefined> {
  if (head !== undefined && (end === undefined || end.commit < head.commit)) {
    return { kind: 'other_log', head: String(head.commit), end: asText(end?.commit ?? null) }
  }
  if (selection.until === undefined) {
    if (head !== undefined || end === undefined) return undefined
    return { kind: 'nothing_covered', end: String(end.commit) }
  }
  // With `until`, the end of the export does not depend on the manifest.
  const due = await readExportHead(log, selection, () => {})
  if (due === undefined || (head !== undefined && due.commit <= head.commit)) return undefined
  return { kind: 'cut_short', head: asText(head?.commit ?? null), end: String(due.commit) }
}

function notePair(
  differences: Differences,
  line: ExportedLine,
  { event, bytes }: RecordedLine,
  order: LineOrder,
): void {
  const place = { line: line.number, event: nameOf(event) }
  if (!order.isRight(line.number, event.position.commit)) differences.note(() => ({ kind: 'out_of_order', ...place }))
  if (line.bytes === null || !isSame(line.bytes, bytes)) {
    differences.note(() => ({ kind: 'changed', ...place, fields: changedFields(bytes, line.bytes) }))
  } else if (!line.isWhole) {
    const fields = [{ field: 'line', log: null, file: 'does not end with a single line feed' }]
    differences.note(() => ({ kind: 'changed', ...place, fields }))
  }
}

/** @returns whether the file matches the manifest */
function noteSummary(differences: Differences, manifest: Manifest, summary: ExportSummary): boolean {
  let isAsManifest = true
  for (const field of ['count', 'first_position', 'last_position', 'bytes', 'sha256'] as const) {
    const [stated, found] = [manifest[field], summary[field]]
    if (stated === found) continue
    isAsManifest = false
    differences.note(() => ({ kind: 'manifest', field, manifest: asText(stated), file: asText(found) }))
  }
  return isAsManifest
}

async function* logLines(
  log: RawClient,
  { selection, head, format }: Pick<Extent, 'selection' | 'head'> & Pick<Manifest, 'format'>,
  onRead: (position: LogPosition) => void,
): AsyncGenerator<RecordedLine, void> {
  for await (const event of readSelected(log, selection, head, ({ position }) => onRead(position))) {
    yield { event, bytes: lineInFormat(Buffer.from(exportLine(event)), format) }
  }
}

/** On current servers commit and prepare position are equal. */
const positionAt = (text: string): LogPosition => ({ commit: BigInt(text), prepare: BigInt(text) })

const asText = (value: string | number | bigint | null) => (value === null ? null : String(value))
