import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import t from 'tap'
import { listFilesHarness } from '../testing/listFilesHarness.ts'

const rows = 1_000_000
/** The heap of this process, which has server and client, grows to its usual size while this part is sent. */
const warmUpRows = 400_000
const maxGrowthBytes = 48 * 1024 * 1024

t.test('a file of a million rows needs no more memory than a smaller one', async (t) => {
  const { url } = await listFilesHarness(t)
  const sent = request(`${url}/numbers?rows=${rows}`, { headers: { 'x-rights': 'read export', accept: 'text/csv' } })
  const [response]: IncomingMessage[] = await once(sent.end(), 'response')
  let [lines, first, later] = [0, 0, 0]
  for await (const chunk of response ?? []) {
    lines += String(chunk).split('\n').length - 1
    const { rss } = process.memoryUsage()
    if (lines <= warmUpRows) first = Math.max(first, rss)
    else later = Math.max(later, rss)
  }
  t.equal(lines, rows + 1)
  t.equal(response?.complete, true)
  t.ok(later - first < maxGrowthBytes, `${later - first} bytes more than after ${warmUpRows} rows`)
})
