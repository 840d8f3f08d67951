// When checkpoints are due: per page during catch-up, by scanned events while live.
import fc from 'fast-check'
import t from 'tap'
import { createCheckpoints } from './checkpoints.ts'

type Log = {
  readonly start: bigint
  readonly window: number
  readonly interval: number
  readonly catchUp: string
  readonly live?: string
}

/** Plays a log of `.` (no match), `m` (match) and `_` (no event) from position 10 on. @returns the sent messages */
function play({ start, window, interval, catchUp, live = '' }: Log): string {
  const checkpoints = createCheckpoints({ window, interval, start })
  const seen: string[] = []
  const see = (position: bigint | undefined) => position !== undefined && seen.push(`c${position}`)
  let position = 9n
  const consider = (each: string, dueAfter: (position: bigint, matched: boolean) => bigint | undefined) => {
    position += 1n
    if (each === '_') return
    if (each === 'm' && position > start) {
      seen.push(`m${position}`)
      checkpoints.sent(position)
    }
    see(dueAfter(position, each === 'm'))
  }
  // Catch-up reads from the start position. Live, every published event is considered.
  if (start > position + 1n && catchUp !== '') position = start - 1n
  for (const each of catchUp) consider(each, checkpoints.considered)
  if (catchUp !== '') see(checkpoints.phaseChanged())
  seen.push('live')
  for (const each of live) consider(each, checkpoints.consideredLive)
  return seen.join(' ')
}

function matches(first: number, last: number): string {
  return Array.from({ length: last - first + 1 }, (_, index) => `m${first + index}`).join(' ')
}

const cases: readonly (Log & { readonly rule: string; readonly seen: string })[] = [
  {
    rule: 'the checkpoint of a full page is its first position, or its last match',
    ...{ start: 10n, window: 2, interval: 2, catchUp: 'm.....m.' },
    seen: 'c10 c12 c14 m16 c16 live',
  },
  {
    rule: 'a page starts right after the previous one, even if no event is there',
    ...{ start: 10n, window: 2, interval: 2, catchUp: 'm.__...' },
    seen: 'c10 c12 live',
  },
  {
    rule: 'the start position counts as considered',
    ...{ start: 10n, window: 3, interval: 3, catchUp: '....' },
    seen: 'c10 live',
  },
  {
    rule: 'a checkpoint is due when the pages add up to the interval',
    ...{ start: 10n, window: 2, interval: 4, catchUp: '........' },
    seen: 'c12 c16 live',
  },
  {
    rule: 'going live sends a checkpoint at the last match',
    ...{ start: 10n, window: 32, interval: 32, catchUp: '..m..' },
    seen: 'm12 c12 live',
  },
  {
    rule: 'going live without a match sends a checkpoint at the start position',
    ...{ start: 10n, window: 32, interval: 32, catchUp: '.....' },
    seen: 'c10 live',
  },
  {
    rule: 'going live without a match sends no checkpoint when the start is the start of the log',
    ...{ start: -1n, window: 32, interval: 32, catchUp: '.....' },
    seen: 'live',
  },
  {
    rule: 'the first page from the start of the log starts at 0',
    ...{ start: -1n, window: 2, interval: 2, catchUp: '....' },
    seen: 'c0 c12 live',
  },
  {
    rule: 'an unfinished page at the end gets no checkpoint',
    ...{ start: 10n, window: 2, interval: 2, catchUp: '.....' },
    seen: 'c10 c12 live',
  },
  {
    rule: 'a page ends early after 32 matches, and its events count towards the interval',
    ...{ start: 10n, window: 40, interval: 40, catchUp: `.${'m'.repeat(32)}${'.'.repeat(40)}.` },
    seen: `${matches(11, 42)} c43 live`,
  },
  {
    rule: 'events beyond an interval count towards the next one',
    ...{ start: 10n, window: 40, interval: 40, catchUp: `${`.${'m'.repeat(32)}`.repeat(3)}m` },
    seen: `${matches(11, 42)} ${matches(44, 75)} c75 ${matches(77, 108)} c108 m109 c109 live`,
  },
  {
    rule: 'a live interval ends with a checkpoint at its last event, match or not',
    ...{ start: 10n, window: 2, interval: 2, catchUp: '.', live: '..m...' },
    seen: 'c10 live c12 m13 c14 c16',
  },
  {
    rule: 'a subscription that starts after the end gets no checkpoint before its start',
    ...{ start: 14n, window: 1, interval: 1, catchUp: '', live: '......' },
    seen: 'live c14 c15',
  },
]

for (const { rule, seen, ...log } of cases) {
  t.test(rule, async (t) => {
    t.equal(play(log), seen)
  })
}

t.test('checkpoints increase, and follow every match up to them', async () => {
  const log = fc.record({
    start: fc.constantFrom(-1n, 10n, 15n),
    window: fc.integer({ min: 1, max: 40 }),
    multiplier: fc.integer({ min: 1, max: 3 }),
    catchUp: fc.string({ unit: fc.constantFrom('.', 'm'), minLength: 1, maxLength: 150 }),
    live: fc.string({ unit: fc.constantFrom('.', '.', 'm'), maxLength: 150 }),
  })
  fc.assert(
    fc.property(log, ({ start, window, multiplier, catchUp, live }) => {
      const seen = play({ start, window, interval: window * multiplier, catchUp, live }).split(' ')
      let checkpoint = -1
      for (const each of seen) {
        const position = Number(each.slice(1))
        if (each.startsWith('m') && position <= checkpoint) return false
        if (each.startsWith('c')) {
          if (position <= checkpoint) return false
          checkpoint = position
        }
      }
      return true
    }),
    { seed: 1, numRuns: 2_000 },
  )
})
