// A catalogue inside the process that keeps products and prices as real providers do. A test moves its scenery: what a step
// of a call is replaced with, and what happens while one is under way.

import type { CatalogProduct, ProviderProduct, PutProduct } from '@paylog/providers/productCatalog'
import { type Provider, ProviderError, type ProviderErrorKind } from '@paylog/providers/provider'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'

type StagedProduct = Pick<CatalogProduct, 'name' | 'description' | 'product_type'>

export type StagedPrice = {
  readonly id: string
  readonly product_id: string
  /** Amount, currency and interval, in words. */
  readonly worth: string
  active: boolean
}

/** What a step meets; `done` says whether the catalogue did it all the same. */
export type CatalogMishap = { readonly kind: ProviderErrorKind; readonly done?: boolean }

export type StagedCatalog = ReturnType<typeof createCatalogStage>

export function createStagedCatalog(): { readonly provider: Provider; readonly stage: StagedCatalog } {
  const stage = createCatalogStage()
  const provider: Provider = {
    ...createSandbox({ webhookSecrets: ['secret'] }),
    id: 'shop',
    catalog: {
      keepsPrice: () => stage.keepsPrices,
      checkProduct({ price: { currency } }) {
        if (currency === 'XAF') throw new ProviderError('currency', 'currency', 'XAF is not sold in here')
      },
      putProduct: (request) => putProduct(stage, request),
    },
  }
  return { provider, stage }
}

function createCatalogStage() {
  const prices: StagedPrice[] = []
  return {
    products: new Map<string, StagedProduct>(),
    prices,
    byKey: new Map<string, StagedPrice>(),
    keepsPrices: true,
    /** Products that the catalogue refuses. */
    refused: new Set<string>(),
    /** Every step, as `put <product>`, `create <key>`, `adopt <price>`, `archive <price>`. */
    calls: [] as string[],
    /** What each call was given. */
    asked: [] as PutProduct[],
    /** Fields that it does not let be changed. */
    kept_fields: [] as ProviderProduct['kept_fields'][number][],
    /** The next steps of a kind meet these. */
    mishaps: new Map<string, (CatalogMishap | undefined)[]>(),
    /** Every step meets this. */
    always: undefined as CatalogMishap | undefined,
    /** Runs before a step takes effect. */
    before: undefined as ((call: string) => Promise<unknown>) | undefined,
    /** Runs after a step took effect, before it is answered. */
    meanwhile: undefined as ((call: string) => Promise<unknown>) | undefined,
    activeOf: (product_id: string) => prices.filter((price) => price.product_id === product_id && price.active),
  }
}

/** Looks at what is there at every step, so that it may be cut off and repeated. */
async function putProduct(stage: StagedCatalog, request: PutProduct): Promise<ProviderProduct> {
  const { idempotency_key, product, price } = request
  stage.asked.push(request)
  const { product_id, name, description, product_type } = product
  await play(stage, `put ${product_id}`, () => {
    if (stage.refused.has(product_id)) throw new ProviderError('rejected', 'bad_product', 'This one is no good')
    stage.products.set(product_id, { name, description, product_type })
  })
  const answer = { provider_product_id: product_id, kept_fields: stage.kept_fields }
  if (price === 'put' && stage.keepsPrices) {
    const { id } = await putPrice(stage, idempotency_key, product)
    return { ...answer, provider_price_id: id }
  }
  return { ...answer, provider_price_id: stage.activeOf(product_id)[0]?.id ?? null }
}

async function putPrice(
  stage: StagedCatalog,
  key: string,
  { product_id, price }: CatalogProduct,
): Promise<StagedPrice> {
  const worth = `${price.amount_cents} ${price.currency} ${price.recurring?.interval ?? 'once'}`
  const known = stage.prices.find((each) => each.product_id === product_id && each.worth === worth)
  const mine =
    known ??
    (await play(stage, `create ${key}`, () => {
      const made = stage.byKey.get(key) ?? { id: `price_${stage.prices.length + 1}`, product_id, worth, active: true }
      if (!stage.byKey.has(key)) stage.prices.push(made)
      stage.byKey.set(key, made)
      return made
    }))
  if (!mine.active)
    await play(stage, `adopt ${mine.id}`, () => {
      mine.active = true
    })
  for (const other of stage.activeOf(product_id))
    if (other !== mine)
      await play(stage, `archive ${other.id}`, () => {
        other.active = false
      })
  return mine
}

async function play<Answer>(stage: StagedCatalog, call: string, act: () => Answer): Promise<Answer> {
  stage.calls.push(call)
  const [verb = ''] = call.split(' ')
  const mishap = stage.mishaps.get(verb)?.shift() ?? stage.always
  if (mishap && !mishap.done) throw failure(verb, mishap)
  await stage.before?.(call)
  const answer = act()
  await stage.meanwhile?.(call)
  if (mishap) throw failure(verb, mishap)
  return answer
}

function failure(verb: string, { kind }: CatalogMishap): ProviderError {
  return new ProviderError(kind, `${verb}_${kind}`, 'In words for the caller')
}
