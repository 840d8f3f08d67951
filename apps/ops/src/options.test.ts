import t from 'tap'
import { UsageError } from './command.ts'
import {
  count,
  flag,
  oneOf,
  optionsHelp,
  readCommandLine,
  required,
  text,
  texts,
  usageOf,
  withDefault,
} from './options.ts'

const options = {
  out: required(text('FILE', 'the file')),
  limit: withDefault(count('N', 'how many\nat most', { max: 10 }), 5),
  status: oneOf('S', ['on', 'off'], 'the state'),
  against: texts('PATH', 'may be repeated'),
  force: flag('replaces it'),
}
const read = (...args: readonly string[]) => readCommandLine(args, ['STREAM'], options)

t.test('a command line is read into arguments and options with their defaults', async (t) => {
  t.same(read('a', '--out', 'x'), {
    args: ['a'],
    options: { out: 'x', limit: 5, status: undefined, against: [], force: false },
  })
  const all = ['--out', 'x', '--limit', '1', '--limit', '10', '--status', 'off', '--against', 'p', '--against', 'q']
  t.same(readCommandLine(['--force', ...all, 'a', 'b'], ['FIRST', 'REST…'], options), {
    args: ['a', 'b'],
    options: { out: 'x', limit: 10, status: 'off', against: ['p', 'q'], force: true },
  })
  t.same(readCommandLine([], ['REST…'], {}).args, [])
})

t.test('an invalid command line is a UsageError that names the option', async (t) => {
  const wrong: readonly (readonly [readonly string[], string])[] = [
    [['--out', 'x'], 'STREAM is missing'],
    [['a', 'b', '--out', 'x'], 'Unexpected argument: b'],
    [['a'], '--out is missing'],
    [['a', '--out', 'x', '--limit', '11'], '--limit must be at most 10'],
    [['a', '--out', 'x', '--status', 'of'], '--status must be one of on, off'],
  ]
  for (const [args, message] of wrong) t.throws(() => read(...args), new UsageError(message), args.join(' '))
  for (const bad of ['-1', '1.5', 'x', '', '1e3', '0'])
    t.throws(
      () => read('a', '--out', 'x', `--limit=${bad}`),
      new UsageError('--limit must be a whole number of at least 1'),
    )
  t.throws(() => read('a', '--colour'), { name: 'UsageError', message: /^Unknown option '--colour'/ })
})

t.test('usage and help follow from the options', async (t) => {
  t.equal(usageOf(['STREAM'], options), 'STREAM --out FILE [--limit N] [--status S] [--against PATH]… [--force]')
  t.same(optionsHelp(options), [
    '  --out FILE      the file',
    '  --limit N       how many\n                  at most (default 5)',
    '  --status S      the state',
    '  --against PATH  may be repeated',
    '  --force         replaces it',
  ])
})
