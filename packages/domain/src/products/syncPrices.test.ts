import t from 'tap'
import { planSync } from './sync.ts'
import {
  after,
  done,
  failed,
  hashes,
  keep,
  options,
  put,
  type SyncEvent,
  settled,
  started,
} from './testing/syncFixture.ts'

t.test('a sync puts changed content and keeps the price', async (t) => {
  t.same(planSync(after(...settled), options(hashes('b'))), {
    status: 'updated',
    goal: keep('b'),
    price_differs: false,
  })
})

t.test('a changed price is put only with updatePrices', async (t) => {
  const state = after(...settled)
  const other = hashes('a', 'q')
  t.match(planSync(state, options(other)), { status: 'skipped', price_differs: true })
  t.same(planSync(state, options(hashes('b', 'q'))), { status: 'updated', goal: keep('b', 'p'), price_differs: true })
  t.same(planSync(state, options(other, { force: true })), {
    status: 'updated',
    goal: keep('a', 'p'),
    price_differs: true,
  })
  t.same(planSync(state, options(other, { updatePrices: true })), {
    status: 'updated',
    goal: put('a', 'q'),
    price_differs: false,
  })
})

t.test('a price that was added or removed counts as a changed price', async (t) => {
  const state = after(started(1, put('a', null)), done(1, hashes('a', null)))
  t.match(planSync(state, options(hashes('a', null))), { status: 'skipped', price_differs: false })
  t.match(planSync(state, options(hashes('a', 'p'))), { status: 'skipped', price_differs: true })
  t.match(planSync(after(...settled), options(hashes('a', null))), { status: 'skipped', price_differs: true })
  const gone = planSync(after(...settled), options(hashes('a', null), { updatePrices: true }))
  t.match(gone, { status: 'updated', goal: put('a', null) })
})

t.test(
  'a requested price that may be at the provider is put again without updatePrices, unless it was rejected',
  async (t) => {
    const requested = [...settled, started(2, put('b', 'q'))]
    const open = [[], [failed(2, 'provider_outcome_unknown')], [failed(2, 'provider_unavailable')]]
    for (const end of open) {
      const plan = planSync(after(...requested, ...end), options(hashes('b', 'q')))
      t.match(plan, { status: 'updated', goal: put('b', 'q'), price_differs: false })
    }
    for (const code of ['provider_rejected', 'currency_not_supported']) {
      const plan = planSync(after(...requested, failed(2, code)), options(hashes('b', 'q')))
      t.match(plan, { status: 'updated', goal: keep('b', 'p'), price_differs: true }, code)
    }
    const keeping = after(...requested, failed(2, 'provider_outcome_unknown'), started(3, keep('c')), failed(3))
    t.match(
      planSync(keeping, options(hashes('b', 'q'))),
      { goal: put('b', 'q') },
      'a rejected sync that kept the price does not matter',
    )
    const other = after(...settled, started(2, put('a', 'q')), done(2, hashes('a', 'q')))
    t.match(
      planSync(other, options(hashes('a', 'p'))),
      { status: 'skipped', price_differs: true },
      'an earlier price is not put',
    )
  },
)

t.test('a sync that kept the price does not settle it', async (t) => {
  const state = after(...settled, started(2, put('a', 'q')), failed(2), started(3, keep('b')), done(3, hashes('b')))
  t.match(planSync(state, options(hashes('b', 'q'))), { status: 'skipped', price_differs: true })
  t.match(planSync(state, options(hashes('b', 'p'))), { status: 'updated', goal: put('b', 'p') }, 'the price may be q')
})

t.test('a kept price that is gone at the provider is put again without updatePrices', async (t) => {
  const gone = { provider_price_id: null }
  const state = after(...settled, started(2, keep('b')), done(2, hashes('b'), gone))
  t.match(planSync(state, options(hashes('b', 'q'))), { status: 'updated', goal: put('b', 'q'), price_differs: false })
  const none = after(
    started(1, put('a', null)),
    done(1, hashes('a', null), gone),
    started(2, keep('b', null)),
    done(2, hashes('b', null), gone),
  )
  t.match(planSync(none, options(hashes('b', null))), { status: 'skipped' }, 'there never was a price')
})

t.test('overlapping syncs that put a price leave it unsettled, as 1.0.0 recorded them', async (t) => {
  const prices = after(
    ...settled,
    started(2, put('a', 'q')),
    started(3, put('a', 'r')),
    done(2, hashes('a', 'q')),
    done(3, hashes('a', 'r')),
  )
  t.match(planSync(prices, options(hashes('a', 'r'), { updatePrices: true })), {
    status: 'updated',
    goal: put('a', 'r'),
  })
  t.match(planSync(prices, options(hashes('a', 'p'))), { status: 'updated', goal: put('a', 'p') })
  const kept = after(
    ...settled,
    started(2, put('a', 'q')),
    started(3, keep('a')),
    done(3, hashes('a')),
    done(2, hashes('a', 'q')),
  )
  t.match(planSync(kept, options(hashes('a', 'q'))), { status: 'updated', goal: put('a', 'q') }, 'put again')
})

t.test(
  'the price key changes after a success or another price, and is the same for concurrent and repeated syncs',
  async (t) => {
    const keyOf = (...events: readonly SyncEvent[]) => after(...events).price_key.number
    const first = keyOf(started(1, put('a')))
    t.equal(keyOf(started(1, put('a')), started(2, put('a'))), first, 'concurrent syncs')
    t.equal(keyOf(started(1, put('a')), failed(1), started(2, put('b'))), first, 'a retry')
    const other = [...settled, started(2, put('a', 'q')), failed(2)]
    t.equal(
      keyOf(...other, started(3, keep('b')), started(4, put('b', 'q'))),
      keyOf(...other),
      'a sync that keeps the price',
    )
    t.not(keyOf(...settled, started(2, put('a'))), first, 'after a success')
    t.not(keyOf(started(1, put('a')), started(2, put('a', 'q')), started(3, put('a'))), first, 'after another price')
  },
)
