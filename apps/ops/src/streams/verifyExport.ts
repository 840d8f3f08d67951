// `streams verify-export`: whether an export is what its manifest says, and what the log holds.
import type { LogPosition } from '@paylog/domain/events'
import type { RawClient } from '@paylog/event-store/raw/rawClient'
import { readLogEnd } from '@paylog/event-store/raw/rawRead'
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
import { type ExportedLine, type ExportSummary, openExport, requireReadable } from './exportedLines.ts'
import { exportLine } from './exportLine.ts'
import { fileOf, isManifest, type Manifest, readManifest, selectionOf } from './exportManifest.ts'
import {
  type ExportSelection,
  openRawLog,
  readExportHead,
  readSelected,
  serverFilter,
  untilInterrupted,
} from './exportSelection.ts'
import { type LogLine, pair } from './pairing.ts'

/** As many are told of; the others are counted. */
const maxListed = 100
const exitDifferent = 3
/** So many lines that have no event are looked up even when nobody is told of them: is this the right log at all? */
const minLookedUp = 10

export const streamsVerifyExport: CliCommand = {
  usage: 'FILE [--json]',
  summary: 'Check an export against its manifest and against the log',
  details: [
    '  --json  one object: whether the export holds, and its differences',
    '',
    'The part of the log that FILE.manifest.json names is read again with the same filters, and compared line by line.',
    `Up to ${maxListed} differences are told one by one: what was changed, what is missing, what is too much, what stands at`,
    'another place, and what the log itself no longer has because its stream was deleted or cut off since.',
    'Of an export without --until only its manifest says how far it goes: how far the log has gone since is told as well.',
    '',
    'Exits with 0 when all is the same, with 3 when something differs, and with 1 when it could not be checked.',
  ].join('\n'),
  async run(args, { environment, print, errors }) {
    const { values, positionals } = readArguments(args, ['FILE'], { json: { type: 'boolean' } })
    const [path] = positionals
    const manifest = manifestOfExport(path)
    const isFiltered = serverFilter(selectionOf(manifest)) !== undefined
    const log = openRawLog(environment, { isFiltered })
    const progress = createExportProgress(errors)
    const { conclude } = createReportWriter(progress, print)
    try {
      const verdict = await untilInterrupted(
        { log, errors },
        'Interrupted: the export was not checked to its end.',
        (signal) => verify(log, { path, manifest, progress, signal }),
      )
      const { differences } = verdict
      await conclude((values.json ? verdictJson : verdictText)(path, manifest, verdict))
      if (differences === 0) return
      const many = differences === 1 ? '1 difference' : `${differences} differences`
      throw new OpsError(`${path} is not what it should be: ${many}.`, { exitCode: exitDifferent })
    } finally {
      progress.end()
    }
  },
}

/** @throws OpsError when the file cannot be read, or its manifest */
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
  readonly progress: CliProgress<ExportProgress>
  readonly signal: AbortSignal
}

async function verify(log: RawClient, { path, manifest, progress, signal }: Verification): Promise<ExportVerdict> {
  const differences = createDifferences()
  const selection = selectionOf(manifest)
  const head = manifest.head === null ? undefined : positionAt(manifest.head)
  const end = (await readLogEnd(log))?.position
  const extent = await extentDifference(log, { selection, head, end })
  if (extent !== undefined) differences.note(() => extent)
  const file = openExport(path)
  const order = createOrder()
  let paired = 0
  let [known, strange] = [0, 0]
  const show = (position: LogPosition) =>
    progress.show({ phase: 'comparing', events: paired, position: position.commit, head: head?.commit ?? 0n })
  await pair(file.lines(signal), logLines(log, selection, head, show), {
    async paired(line, expected) {
      paired++
      notePair(differences, line, expected, order)
    },
    missing: async ({ event }) => differences.note(() => ({ kind: 'missing', event: nameOf(event) })),
    async extra(line) {
      // What nobody is told of needs no explanation, which costs calls.
      if (differences.isFull() && known + strange >= minLookedUp) return differences.count()
      const difference = await explainExtra(log, line, { selection, head })
      if (difference.kind === 'no_longer_in_log' || difference.in_log) known++
      else strange++
      differences.note(() => difference)
    },
  })
  if (head !== undefined) show(head)
  const isAsManifest = noteSummary(differences, manifest, file.summary())
  const isOfAnotherLog = strange > 0 && known + paired === 0
  return { ...differences.found(), isOfAnotherLog, isAsManifest, logEnd: asText(end?.commit ?? null) }
}

type Differences = ReturnType<typeof createDifferences>

function createDifferences() {
  const told: ExportDifference[] = []
  let differences = 0
  return {
    isFull: () => told.length >= maxListed,
    /** One that nobody is told of. */
    count(): void {
      differences++
    },
    note(describe: () => ExportDifference): void {
      differences++
      if (told.length < maxListed) told.push(describe())
    },
    found: () => ({ differences, told }),
  }
}

type Extent = {
  readonly selection: ExportSelection
  readonly head: LogPosition | undefined
  readonly end: LogPosition | undefined
}

/** What is wrong with how much of the log the manifest says that the export covers. */
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
  // With an until the manifest has no say in how far the export goes.
  const due = await readExportHead(log, selection, () => {})
  if (due === undefined || (head !== undefined && due.commit <= head.commit)) return undefined
  return { kind: 'cut_short', head: asText(head?.commit ?? null), end: String(due.commit) }
}

function notePair(differences: Differences, line: ExportedLine, { event, bytes }: LogLine, order: Order): void {
  const place = { line: line.number, event: nameOf(event) }
  if (!order.isRight(line.number, event.position.commit)) differences.note(() => ({ kind: 'out_of_order', ...place }))
  if (!line.bytes?.equals(bytes)) {
    differences.note(() => ({ kind: 'changed', ...place, fields: changedFields(bytes, line.bytes) }))
  } else if (!line.isWhole) {
    const fields = [{ field: 'line', log: null, file: 'not ended by a line feed alone' }]
    differences.note(() => ({ kind: 'changed', ...place, fields }))
  }
}

/** @returns whether the file is the one that the manifest describes */
function noteSummary(differences: Differences, manifest: Manifest, summary: ExportSummary): boolean {
  let isAsManifest = true
  for (const field of ['count', 'first_position', 'last_position', 'bytes', 'sha256'] as const) {
    const [said, found] = [manifest[field], summary[field]]
    if (said === found) continue
    isAsManifest = false
    differences.note(() => ({ kind: 'manifest', field, manifest: asText(said), file: asText(found) }))
  }
  return isAsManifest
}

async function* logLines(
  log: RawClient,
  selection: ExportSelection,
  head: LogPosition | undefined,
  onRead: (position: LogPosition) => void,
): AsyncGenerator<LogLine, void> {
  for await (const event of readSelected(log, selection, head, ({ position }) => onRead(position))) {
    yield { event, bytes: Buffer.from(exportLine(event)) }
  }
}

type Order = ReturnType<typeof createOrder>

/** Whether lines come in the order of the log, of those that have come so far. */
function createOrder() {
  let [lastLine, lastPosition] = [0, -1n]
  return {
    isRight(line: number, position: bigint): boolean {
      const isRight = line > lastLine === position > lastPosition
      lastLine = Math.max(lastLine, line)
      lastPosition = position > lastPosition ? position : lastPosition
      return isRight
    },
  }
}

/** Positions of current servers are one number twice. */
const positionAt = (text: string): LogPosition => ({ commit: BigInt(text), prepare: BigInt(text) })

const asText = (value: string | number | bigint | null) => (value === null ? null : String(value))
