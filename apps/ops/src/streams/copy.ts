// `streams copy`: moves the log to another event store and proves that the copy is the same.
import { withoutCredentials } from '@paylog/event-store/connection/connectionString'
import { type CopyResult, copyLog } from '@paylog/event-store/copy-log/copyLog'
import { type CliCommand, OpsError, readArguments, UsageError } from '../command.ts'
import { type MovedCheckpoint, openCheckpoints } from './copyCheckpoints.ts'
import { createCopyProgress } from './copyProgress.ts'

export const streamsCopy: CliCommand = {
  usage: '--from esdb://… --to esdb://… [--checkpoints postgres://…] [--json]',
  summary:
    'Copy the whole log into another event store, compare them, and move the checkpoints of projector and worker',
  async run(args, { print, errors }) {
    const { values } = readArguments(args, [], {
      from: { type: 'string' },
      to: { type: 'string' },
      checkpoints: { type: 'string' },
      json: { type: 'boolean' },
    })
    const from = readAddress('--from', values.from)
    const to = readAddress('--to', values.to)
    if (placeOf(from) === placeOf(to)) throw new UsageError('--from and --to are the same')
    if (values.checkpoints !== undefined) requireScheme('--checkpoints', values.checkpoints, /^postgres(ql)?:\/\//)
    const checkpoints =
      values.checkpoints === undefined
        ? undefined
        : await openCheckpoints(values.checkpoints, to, errors).catch(throwDatabaseError)
    const progress = createCopyProgress(errors)
    try {
      const positions = checkpoints?.positions
      const result = await copyLog({ from, to, ...(positions && { positions }), onProgress: progress.show })
      progress.end()
      const isWhole = result.recordedSince === 0
      const moves = isWhole ? await checkpoints?.move(result.positions) : undefined
      await print(values.json ? JSON.stringify(summary(result, moves)) : copySummaryText(result, moves))
      if (!isWhole) throw new OpsError(laterEvents(result))
    } finally {
      progress.end()
      await checkpoints?.close()
    }
  },
}

function readAddress(option: string, value: string | undefined): string {
  if (value === undefined) throw new UsageError(`${option} is missing`)
  requireScheme(option, value, /^esdb(\+discover)?:\/\/./)
  return value
}

const placeOf = (address: string) => withoutCredentials(address).replaceAll(/\blocalhost\b/g, '127.0.0.1')

function throwDatabaseError(error: unknown): never {
  if (error instanceof OpsError) throw error
  const reason = error instanceof AggregateError ? error.errors[0] : error
  throw new OpsError(`--checkpoints: ${reason instanceof Error ? reason.message : String(reason)}`, { cause: error })
}

function requireScheme(option: string, value: string, expected: RegExp): void {
  const scheme = expected.source.startsWith('^esdb') ? 'esdb://' : 'postgres://'
  if (!expected.test(value)) throw new UsageError(`${option} must begin with ${scheme}`)
}

/** For machines: positions as decimal strings. */
function summary(result: CopyResult, moves: readonly MovedCheckpoint[] | undefined) {
  return {
    complete: result.recordedSince === 0,
    events: result.events,
    copied: result.copied,
    already_there: result.alreadyThere,
    made_by_server: result.madeByServer,
    system_events_left_out: result.systemEventsLeftOut,
    recorded_since: result.recordedSince,
    source_position: result.end?.source.commit.toString() ?? null,
    target_position: result.end?.target.commit.toString() ?? null,
    checkpoints: moves?.map(({ table, name, from, to }) => ({ table, name, from: String(from), to: String(to) })),
  }
}

function copySummaryText(result: CopyResult, moves: readonly MovedCheckpoint[] | undefined): string {
  const { events, copied, alreadyThere, madeByServer, systemEventsLeftOut, end } = result
  const lines = [
    `${events} events, ${copied} copied and ${alreadyThere} there before, are the same in both logs.`,
    madeByServer > 0
      ? `${madeByServer} of them, about deleted streams, were made by the servers and have other ids.`
      : '',
    `Left out events of system streams: ${systemEventsLeftOut}.`,
    end
      ? `The last event is at position ${end.source.commit} of the source and ${end.target.commit} of the target.`
      : '',
    ...(moves ?? []).map(({ table, name, from, to }) => `${table} ${name}: from position ${from} to ${to}.`),
  ]
  return lines.filter((line) => line !== '').join('\n')
}

const laterEvents = ({ recordedSince }: CopyResult) =>
  `The source has recorded ${recordedSince} more events meanwhile. Stop what writes to it and run the command again: it ` +
  'goes on from here.'
