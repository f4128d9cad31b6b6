//! What a shop sells.

#![group("shop.example.com")]
#![version(v1)]
#![gate(ShopSale, alpha)]
#![gate(ShopTills, beta, default = true)]
#![gate(AtomicFIFO, beta, default = true)]
#![gate(ShopSale, alpha)]
