// The files that the console saves.
import type { Locator, Page } from 'playwright-core'

export type CsvFile = { readonly name: string; readonly rows: readonly Readonly<Record<string, string>>[] }

/** The content of the file that a click on the button saves. */
export async function savedCsv(page: Page, button: Locator): Promise<CsvFile> {
  const downloading = page.waitForEvent('download')
  await button.click()
  const download = await downloading
  const chunks = await (await download.createReadStream()).toArray()
  const [header = [], ...lines] = cellsOf(Buffer.concat(chunks).toString())
  const rows = lines.map((cells) => Object.fromEntries(header.map((column, at) => [column, cells[at] ?? ''])))
  return { name: download.suggestedFilename(), rows }
}

/** As RFC 4180 has it, after a byte order mark. No cell of the tests has a line break. */
function cellsOf(text: string): string[][] {
  const lines = text.replace(/^\ufeff/, '').split('\r\n')
  return lines.slice(0, -1).map((line) => {
    const cells = line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)
    return [...cells].map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain)
  })
}
