// Generates the parts of packages/client that follow from the OpenAPI document (`npm run client`).
import { writeFile } from 'node:fs/promises'
import { describeApi } from '../apps/api/src/describeApi.ts'
import { generatedFiles } from '../packages/client/src/generation/generate.ts'
import { createLog } from '../packages/runtime/src/telemetry/log.ts'

const folder = new URL('../packages/client/src/', import.meta.url)

/** @returns location and content of each generated file */
export async function currentFiles(): Promise<readonly { readonly location: URL; readonly content: string }[]> {
  const document = await describeApi(createLog({ app: 'client', level: 'silent' }))
  const files = Object.entries(await generatedFiles(document))
  return files.map(([name, content]) => ({ location: new URL(name, folder), content }))
}

if (import.meta.main) for (const { location, content } of await currentFiles()) await writeFile(location, content)
