import { readFile } from 'node:fs/promises'
import t from 'tap'
import { currentFiles } from './client.ts'

t.test('the generated files of packages/client are those of the OpenAPI document', async (t) => {
  const files = await currentFiles()
  t.equal(files.length, 2)
  for (const { location, content } of files)
    t.ok((await readFile(location, 'utf8')) === content, `${location} is current; otherwise: npm run client`)
})
