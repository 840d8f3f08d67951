import t from 'tap'
import { formatBytes } from './bytes.ts'

t.test('formatBytes has three digits at most in the largest fitting unit', async (t) => {
  const shown = [0, 1, 999, 1_000, 12_582_912, 340_000_000, 2_500_000_000, 5e15].map(formatBytes)
  t.same(shown, ['0 bytes', '1 byte', '999 bytes', '1.0 kB', '12.6 MB', '340 MB', '2.5 GB', '5000 TB'])
})
