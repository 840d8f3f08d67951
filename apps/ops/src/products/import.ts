// `products import`: adds and changes products, a line of a file for each.
import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import { createEventStore } from '@paylog/event-store/eventStore'
import { Type } from 'typebox'
import { type CliCommand, readArguments } from '../command.ts'
import { createReportWriter } from '../progress.ts'
import { withInterrupt } from '../withInterrupt.ts'
import { openImportFile } from './importFile.ts'
import { importProducts } from './importProducts.ts'
import { createImportProgress } from './importProgress.ts'
import { rememberedIds } from './importWarnings.ts'

const Config = Type.Object({ EVENTSTORE_URL: url(['esdb', 'esdb+discover']) })

export const productsImport: CliCommand = {
  usage: 'FILE.ndjson|- [--json]',
  summary: 'Add and change products, a JSON object per line; lines that are wrong are reported and left out',
  details: `\
  -        reads from standard input
  --json   one object per line that is rejected or doubtful, and a last one with the counts

Each line is one product, a JSON object in UTF-8 of at most 256 KiB. Empty lines are skipped.
  {"name":"Mug","product_type":"physical","currency":"EUR","total_cents":1250}
  {"id":"0198f2a0-5b1e-7c3d-8e4f-a1b2c3d4e5f6","name":"Backup","product_type":"subscription","currency":"EUR",\
"subtotal_cents":1000,"tax_cents":190,"is_recurring":true,"billing_interval":"month","trial_days":14}
Its fields are those of POST /admin/products, with the same rules:
  name, product_type (physical, digital, service, subscription), currency and total_cents or subtotal_cents are
  required; description, tax_cents, discount_cents, is_recurring, billing_interval (day, week, month, year; required
  when is_recurring), trial_days, category_id and is_active may be left out.
Other fields are left out, and the report names them: if one is misspelt, what it was to say is missing in the product.
Those that the API's answers have (created_at, updated_at) are left out silently.

With an id (a UUID of your choice; null is none) the line is the whole product: it is added, or what differs is changed,
and a field that is left out is empty again. is_active alone stays as it is unless the line says it: "is_active":false
takes the product out of the catalogue. Lines with one id take effect in their order, so that the last one holds; one
that changes what an earlier line said is reported (unless ${rememberedIds} or more lines with ids lie between).
Without an id the line only adds, once for all lines that say the same: whatever has become of that product since
stays as it is. A line that says anything else, a corrected one too, adds another product. To change products, give them
ids.

It may be interrupted and repeated at any time: nothing is added twice. It goes on when nobody reads its report any more.
Exits with 0 when all lines are in, doubtful ones as well; with 2 when lines were rejected and the others are in; with
1 when it could not go on to the end of the file.`,
  async run(args, { environment, print, errors, input }) {
    const { values, positionals } = readArguments(args, ['FILE'], { json: { type: 'boolean' } })
    const { EVENTSTORE_URL } = loadConfig(Config, environment)
    const file = await openImportFile(positionals[0], input)
    const store = createEventStore({ connectionString: EVENTSTORE_URL })
    const progress = createImportProgress(errors)
    try {
      const log = { store, now: () => new Date() }
      await withInterrupt(errors, (signal) =>
        importProducts(log, {
          file,
          isJson: values.json === true,
          ...createReportWriter(progress, print),
          onProgress: progress.show,
          signal,
        }),
      )
    } finally {
      progress.end()
      file.close()
      await store.close()
    }
  },
}
